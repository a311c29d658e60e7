"""Written by declare.py from the headers in include/heed; not to be edited."""
from ctypes import *

CONSTANTS = {"HEED_OK": 0, "HEED_FAILED": 1, "HEED_USAGE": 2, "HEED_DATA": 3, "HEED_DIVERGED": 4, "HEED_INTERRUPTED": 5,
    "HEED_IDENTITY": 0, "HEED_RELU": 1, "HEED_GELU": 2, "HEED_GELU_TANH": 3, "HEED_SILU": 4, "HEED_TANH": 5, "HEED_SIGMOID": 6,
    "HEED_EXP": 7, "HEED_LOG": 8, "HEED_SQRT": 9, "HEED_ACT_COUNT": 10, "HEED_RNN": 0, "HEED_GRU": 1, "HEED_LSTM": 2, "HEED_ENCODER": 0,
    "HEED_DECODER": 1, "HEED_CROSS": 2, "HEED_INFO": 0, "HEED_WARN": 1, "HEED_EXPLAIN": 512, "HEED_FP32": 0, "HEED_BF16": 1,
    "HEED_BF16_IF_FASTER": 2, "HEED_ROWS_UNITS": 0, "HEED_ROWS_TOKENS": 1, "HEED_ROWS_SOURCE": 2, "HEED_ROWS_POSITIONS": 3,
    "HEED_ROWS_GRID": 4, "HEED_ROWS_CLASSES": 5, "HEED_RANGES": 4, "HEED_TABLE_NAME": -1, "HEED_TABLE_CELL": 64, "HEED_QUOTE": 80,
    "HEED_CSV_FIELDS": 64, "HEED_CSV_LONGEST": 4096, "HEED_INT": 0, "HEED_REAL": 1, "HEED_BOOL": 2, "HEED_TEXT": 3, "HEED_CHOICE": 4,
    "HEED_FROM_DEFAULT": 0, "HEED_FROM_PRESET": 1, "HEED_FROM_FILE": 2, "HEED_FROM_FLAG": 3, "HEED_INPUT_DENSE": 0, "HEED_INPUT_TOKENS": 1,
    "HEED_INPUT_PICTURE": 2, "HEED_INPUT_PAIR": 3, "HEED_INPUT_LABELLED": 4, "HEED_INPUT_CAPTION": 5, "HEED_BLOCKS": 0, "HEED_LINES": 1,
    "HEED_WHY": 200, "HEED_BILINEAR": 0, "HEED_BICUBIC": 1, "HEED_LANCZOS": 2, "HEED_NEAREST": 3, "HEED_TRAIN_PART": 0, "HEED_VAL_PART": 1,
    "HEED_TEST_PART": 2, "HEED_PARTS": 3, "HEED_TRANSLATION": 0, "HEED_CLASSES": 1, "HEED_TAGS": 2, "HEED_CAPTIONS": 3, "HEED_BLEU_13A": 0,
    "HEED_BLEU_ZH": 1, "HEED_BLEU_CHAR": 2, "HEED_EVAL": 0, "HEED_TRAIN": 1, "HEED_TRACE": 2, "HEED_LAYER_NORM": 0, "HEED_RMS_NORM": 1,
    "HEED_LEARNED": 0, "HEED_SINUSOIDAL": 1, "HEED_SINUSOIDAL_2D": 2, "HEED_NO_POSITIONS": 3, "HEED_QUERIES": 0, "HEED_KEYS": 1,
    "HEED_VALUES": 2, "HEED_RECOMPUTE": 4, "HEED_RNN_LAYERS": 16, "HEED_ADDITIVE": 0, "HEED_DOT": 1, "HEED_SCALED_DOT": 2,
    "HEED_GENERAL": 3, "HEED_ATTEND_STEPS": 4096, "HEED_CASE_ROWS": 2, "HEED_CASE_LEN": 3, "HEED_CASE_WIDTH": 8, "HEED_ANSWER_INPUT": 0,
    "HEED_ANSWER_MASKED": 1, "HEED_ANSWER_NEXT": 2, "HEED_ANSWER_SAME": 3, "HEED_ANSWER_PICTURE": 4, "HEED_STEPS_KEPT": 128,
    "HEED_CHOICES": 12, "HEED_OPTIM_SLOTS": 4, "HEED_OPTIM_EXTRA": 4, "HEED_OPTIM_CASE": 8, "HEED_CONSTANT": 0, "HEED_COSINE": 1,
    "HEED_LINEAR": 2, "HEED_INVSQRT": 3, "HEED_STEPS": 4, "HEED_MEMORY_OPS": 24, "HEED_FIT_START": 0, "HEED_FIT_STEP": 1,
    "HEED_FIT_EVAL": 2, "HEED_FIT_SAVED": 3, "HEED_FIT_NOTE": 4, "HEED_START_TAKEN": 0, "HEED_START_MATCHED": 1, "HEED_START_RESIZED": 2,
    "HEED_START_NEW": 3, "HEED_START_UNFIT": 4, "HEED_START_UNUSED": 5, "HEED_PUBLISHED_SAME": 0, "HEED_PUBLISHED_TRANSPOSED": 1,
    "HEED_PUBLISHED_LEADING": 2, "HEED_PUBLISHED_PAIRED": 3, "HEED_PUBLISHED_COPY": 4, "HEED_PHASE_OUTSIDE": 0, "HEED_PHASE_FORWARD": 1,
    "HEED_PHASE_BACKWARD": 2, "HEED_PHASE_OPTIMIZER": 3, "HEED_PHASES": 4, "HEED_LESSON_X": 0, "HEED_LESSON_Z": 1, "HEED_LESSON_W_Q": 2,
    "HEED_LESSON_W_K": 3, "HEED_LESSON_W_V": 4, "HEED_LESSON_B_Q": 5, "HEED_LESSON_B_K": 6, "HEED_LESSON_B_V": 7, "HEED_LESSON_Q": 8,
    "HEED_LESSON_K": 9, "HEED_LESSON_V": 10, "HEED_LESSON_Q_R": 11, "HEED_LESSON_K_R": 12, "HEED_LESSON_RAW": 13, "HEED_LESSON_SCALED": 14,
    "HEED_LESSON_SCORES": 15, "HEED_LESSON_WEIGHTS": 16, "HEED_LESSON_OUTPUT": 17, "HEED_LESSON_W_H": 18, "HEED_LESSON_B_O": 19,
    "HEED_LESSON_OTHERS": 20, "HEED_LESSON_GAIN": 21, "HEED_LESSON_BIAS": 22, "HEED_LESSON_SHARE": 23, "HEED_LESSON_ALL": 24,
    "HEED_LESSON_NORMED": 25, "HEED_LESSON_COUNT": 26, "HEED_INSPECTION_AXES": 3, "HEED_INFLUENCE_EXACT": 4096, "HEED_INFLUENCE_DRAWS": 16,
    "HEED_HEAD_ENTROPY": 0, "HEED_HEAD_DISTANCE": 1, "HEED_HEAD_FIRST": 2, "HEED_HEAD_SELF": 3, "HEED_HEAD_PREVIOUS": 4,
    "HEED_HEAD_NEXT": 5, "HEED_HEAD_SAME": 6, "HEED_HEAD_SPECIAL": 7, "HEED_HEAD_DIAGONAL": 8, "HEED_HEAD_INDUCTION": 9,
    "HEED_HEAD_MEASURES": 10, "HEED_PATCHES_ATTENTION": 0, "HEED_PATCHES_ROLLOUT": 1, "HEED_PATCHES_GRADIENT": 2,
    "HEED_PATCHES_OCCLUSION": 3, "HEED_PATCHES_RANDOM": 4, "HEED_PATCH_MEASURES": 5, "HEED_SNAPSHOT_ITEMS": 8, "HEED_SHOWN_INPUT": 0,
    "HEED_SHOWN_SEEN": 1, "HEED_SHOWN_MADE": 2, "HEED_SHOWN_OFF": 3, "HEED_SHOWN": 4, "HEED_MOMENTS_MOST": 4096, "HEED_ASCII": 0,
    "HEED_COLOR256": 1, "HEED_TRUECOLOR": 2, "HEED_TILE_LINES": 3}
globals().update(CONSTANTS)

ENUMS = {
    "heed_status": ('HEED_OK', 'HEED_FAILED', 'HEED_USAGE', 'HEED_DATA', 'HEED_DIVERGED', 'HEED_INTERRUPTED'),
    "heed_act": ('HEED_IDENTITY', 'HEED_RELU', 'HEED_GELU', 'HEED_GELU_TANH', 'HEED_SILU', 'HEED_TANH', 'HEED_SIGMOID', 'HEED_EXP', 'HEED_LOG', 'HEED_SQRT'),
    "heed_cell": ('HEED_RNN', 'HEED_GRU', 'HEED_LSTM'),
    "heed_stack": ('HEED_ENCODER', 'HEED_DECODER', 'HEED_CROSS'),
    "heed_level": ('HEED_INFO', 'HEED_WARN'),
    "heed_precision": ('HEED_FP32', 'HEED_BF16', 'HEED_BF16_IF_FASTER'),
    "heed_row_kind": ('HEED_ROWS_UNITS', 'HEED_ROWS_TOKENS', 'HEED_ROWS_SOURCE', 'HEED_ROWS_POSITIONS', 'HEED_ROWS_GRID', 'HEED_ROWS_CLASSES'),
    "heed_option_kind": ('HEED_INT', 'HEED_REAL', 'HEED_BOOL', 'HEED_TEXT', 'HEED_CHOICE'),
    "heed_rank": ('HEED_FROM_DEFAULT', 'HEED_FROM_PRESET', 'HEED_FROM_FILE', 'HEED_FROM_FLAG'),
    "heed_input_kind": ('HEED_INPUT_DENSE', 'HEED_INPUT_TOKENS', 'HEED_INPUT_PICTURE', 'HEED_INPUT_PAIR', 'HEED_INPUT_LABELLED', 'HEED_INPUT_CAPTION'),
    "heed_packing": ('HEED_BLOCKS', 'HEED_LINES'),
    "heed_filter": ('HEED_BILINEAR', 'HEED_BICUBIC', 'HEED_LANCZOS', 'HEED_NEAREST'),
    "heed_part": ('HEED_TRAIN_PART', 'HEED_VAL_PART', 'HEED_TEST_PART', 'HEED_PARTS'),
    "heed_pair_kind": ('HEED_TRANSLATION', 'HEED_CLASSES', 'HEED_TAGS', 'HEED_CAPTIONS'),
    "heed_bleu_tokens": ('HEED_BLEU_13A', 'HEED_BLEU_ZH', 'HEED_BLEU_CHAR'),
    "heed_mode": ('HEED_EVAL', 'HEED_TRAIN', 'HEED_TRACE'),
    "heed_norm_kind": ('HEED_LAYER_NORM', 'HEED_RMS_NORM'),
    "heed_position_kind": ('HEED_LEARNED', 'HEED_SINUSOIDAL', 'HEED_SINUSOIDAL_2D', 'HEED_NO_POSITIONS'),
    "heed_projected": ('HEED_QUERIES', 'HEED_KEYS', 'HEED_VALUES'),
    "heed_similarity": ('HEED_ADDITIVE', 'HEED_DOT', 'HEED_SCALED_DOT', 'HEED_GENERAL'),
    "heed_answer": ('HEED_ANSWER_INPUT', 'HEED_ANSWER_MASKED', 'HEED_ANSWER_NEXT', 'HEED_ANSWER_SAME', 'HEED_ANSWER_PICTURE'),
    "heed_schedule_kind": ('HEED_CONSTANT', 'HEED_COSINE', 'HEED_LINEAR', 'HEED_INVSQRT', 'HEED_STEPS'),
    "heed_fit_event": ('HEED_FIT_START', 'HEED_FIT_STEP', 'HEED_FIT_EVAL', 'HEED_FIT_SAVED', 'HEED_FIT_NOTE'),
    "heed_start_how": ('HEED_START_TAKEN', 'HEED_START_MATCHED', 'HEED_START_RESIZED', 'HEED_START_NEW', 'HEED_START_UNFIT', 'HEED_START_UNUSED'),
    "heed_published_form": ('HEED_PUBLISHED_SAME', 'HEED_PUBLISHED_TRANSPOSED', 'HEED_PUBLISHED_LEADING', 'HEED_PUBLISHED_PAIRED', 'HEED_PUBLISHED_COPY'),
    "heed_phase": ('HEED_PHASE_OUTSIDE', 'HEED_PHASE_FORWARD', 'HEED_PHASE_BACKWARD', 'HEED_PHASE_OPTIMIZER', 'HEED_PHASES'),
    "heed_lesson_part": ('HEED_LESSON_X', 'HEED_LESSON_Z', 'HEED_LESSON_W_Q', 'HEED_LESSON_W_K', 'HEED_LESSON_W_V', 'HEED_LESSON_B_Q', 'HEED_LESSON_B_K', 'HEED_LESSON_B_V', 'HEED_LESSON_Q', 'HEED_LESSON_K', 'HEED_LESSON_V', 'HEED_LESSON_Q_R', 'HEED_LESSON_K_R', 'HEED_LESSON_RAW', 'HEED_LESSON_SCALED', 'HEED_LESSON_SCORES', 'HEED_LESSON_WEIGHTS', 'HEED_LESSON_OUTPUT', 'HEED_LESSON_W_H', 'HEED_LESSON_B_O', 'HEED_LESSON_OTHERS', 'HEED_LESSON_GAIN', 'HEED_LESSON_BIAS', 'HEED_LESSON_SHARE', 'HEED_LESSON_ALL', 'HEED_LESSON_NORMED', 'HEED_LESSON_COUNT'),
    "heed_head_measure": ('HEED_HEAD_ENTROPY', 'HEED_HEAD_DISTANCE', 'HEED_HEAD_FIRST', 'HEED_HEAD_SELF', 'HEED_HEAD_PREVIOUS', 'HEED_HEAD_NEXT', 'HEED_HEAD_SAME', 'HEED_HEAD_SPECIAL', 'HEED_HEAD_DIAGONAL', 'HEED_HEAD_INDUCTION', 'HEED_HEAD_MEASURES'),
    "heed_patch_measure": ('HEED_PATCHES_ATTENTION', 'HEED_PATCHES_ROLLOUT', 'HEED_PATCHES_GRADIENT', 'HEED_PATCHES_OCCLUSION', 'HEED_PATCHES_RANDOM', 'HEED_PATCH_MEASURES'),
    "heed_shown": ('HEED_SHOWN_INPUT', 'HEED_SHOWN_SEEN', 'HEED_SHOWN_MADE', 'HEED_SHOWN_OFF', 'HEED_SHOWN'),
    "heed_terminal": ('HEED_ASCII', 'HEED_COLOR256', 'HEED_TRUECOLOR'),
}


class heed_check(Structure):
    _fields_ = [("error", c_double), ("cases", c_int), ("worst", c_char * 96)]


class heed_options(Structure):
    _fields_ = [("seed", c_uint64), ("threads", c_int), ("isa", c_char_p), ("edited", c_bool),
        ("log", CFUNCTYPE(None, c_void_p, c_int, c_char_p)), ("explain", CFUNCTYPE(c_bool, c_void_p, c_void_p, c_char_p, c_void_p)),
        ("user", c_void_p)]


class heed_random(Structure):
    _fields_ = [("seed", c_uint64), ("site", c_uint32), ("step", c_uint32), ("micro", c_uint32)]


class heed_tensor(Structure):
    _fields_ = [("dims", c_int), ("shape", c_int * 4), ("size", c_size_t), ("x", c_void_p), ("i", c_void_p), ("g", c_void_p),
        ("wants_grad", c_bool), ("keep_grad", c_bool), ("touched", c_bool), ("readers", c_int), ("base", c_void_p),
        ("offset", c_size_t), ("node", c_void_p), ("name", c_char_p), ("adapter", c_void_p), ("owner", c_void_p),
        ("begun", c_uint64), ("made_by", c_char * 40)]


class heed_range(Structure):
    _fields_ = [("name", c_char_p), ("from", c_int), ("count", c_int)]


class heed_entry(Structure):
    _fields_ = [("name", c_char_p), ("tensor", c_void_p), ("trained", c_bool), ("state", c_bool), ("decay", c_bool),
        ("reported", c_bool), ("optional", c_bool), ("adapter", c_bool), ("undrawn", c_void_p), ("thaw", c_int64),
        ("lr_scale", c_float), ("rows", c_int), ("ranges", heed_range * 4)]
    _enums_ = {'rows': 'heed_row_kind'}


class heed_text(Structure):
    _fields_ = [("s", c_void_p), ("n", c_size_t), ("capacity", c_size_t), ("c", c_void_p)]


class heed_table_column(Structure):
    _fields_ = [("head", c_char_p), ("width", c_int), ("left", c_bool)]


class heed_table(Structure):
    _fields_ = [("head", c_char_p), ("rows", c_int), ("count", c_int), ("name", c_int), ("gap", c_int), ("top", c_bool),
        ("flush", c_bool), ("columns", c_void_p), ("names", c_void_p), ("cell", CFUNCTYPE(None, c_void_p, c_int, c_int, c_void_p)),
        ("of", c_void_p)]


class heed_problem(Structure):
    _fields_ = [("what", c_char_p), ("where", c_char_p), ("line", c_size_t), ("expected", c_char_p), ("found", c_char_p),
        ("text", c_char_p), ("n", c_size_t), ("hint", c_char_p)]


class heed_csv(Structure):
    _fields_ = [("c", c_void_p), ("what", c_char_p), ("path", c_char_p), ("line", c_size_t), ("count", c_size_t),
        ("fields", c_void_p * 64), ("longest", c_size_t), ("ended", c_bool), ("separator", c_char), ("at", c_void_p),
        ("end", c_void_p), ("next", c_size_t)]


class heed_array(Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_char_p), ("dims", c_int), ("shape", c_int64 * 8), ("data", c_void_p),
        ("bytes", c_size_t), ("offset", c_size_t)]


class heed_option(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("value", c_char_p), ("min", c_double), ("max", c_double),
        ("choices", c_char_p), ("help", c_char_p), ("group", c_char_p)]
    _enums_ = {'kind': 'heed_option_kind'}


class heed_condition(Structure):
    _fields_ = [("settings", c_char_p), ("when", c_char_p)]


class heed_tokenizer_args(Structure):
    _fields_ = [("kind", c_char_p), ("vocab", c_int), ("lower", c_bool), ("specials", c_bool)]


class heed_specials(Structure):
    _fields_ = [("pad", c_int), ("unk", c_int), ("cls", c_int), ("sep", c_int), ("mask", c_int), ("newline", c_int)]


class heed_tokens(Structure):
    _fields_ = [("ids", c_void_p), ("begin", c_void_p), ("end", c_void_p), ("count", c_size_t), ("capacity", c_size_t),
        ("c", c_void_p)]


class heed_text_facts(Structure):
    _fields_ = [("bytes", c_size_t), ("characters", c_size_t), ("lines", c_size_t), ("empty", c_size_t), ("longest", c_size_t),
        ("returns", c_size_t)]


class heed_corpus_args(Structure):
    _fields_ = [("packing", c_int), ("bracket", c_bool), ("block", c_int), ("val_split", c_double), ("tail", c_bool),
        ("val_path", c_char_p), ("eval", c_bool), ("census", c_bool), ("cache", c_char_p), ("keep", c_bool)]
    _enums_ = {'packing': 'heed_packing'}


class heed_corpus_info(Structure):
    _fields_ = [("tokens", c_size_t), ("val_tokens", c_size_t), ("bytes", c_size_t), ("val_bytes", c_size_t), ("unknown", c_size_t),
        ("val_unknown", c_size_t), ("cut_lines", c_size_t), ("checksum", c_uint64), ("lines", c_size_t), ("val_lines", c_size_t),
        ("kept", c_uint64), ("overlap", c_size_t)]


class heed_batch(Structure):
    _fields_ = [("rows", c_int), ("len", c_int), ("ids", c_void_p), ("pad", c_void_p), ("x", c_void_p), ("src_len", c_int),
        ("src", c_void_p), ("src_pad", c_void_p), ("labels", c_void_p), ("masked_positions", c_void_p), ("masked_count", c_int),
        ("class_weights", c_void_p), ("classes", c_int), ("label_weight", c_double), ("items", c_size_t), ("label_bytes", c_size_t)]


class heed_batch_at(Structure):
    _fields_ = [("val", c_bool), ("index", c_uint64), ("micro", c_uint32), ("micros", c_uint32), ("rows", c_int),
        ("full_batch", c_bool), ("sample", c_bool)]


class heed_picture(Structure):
    _fields_ = [("width", c_int), ("height", c_int), ("channels", c_int), ("pixels", c_void_p)]


class heed_box(Structure):
    _fields_ = [("x", c_double), ("y", c_double), ("width", c_double), ("height", c_double)]


class heed_augment(Structure):
    _fields_ = [("flip", c_double), ("pad", c_int), ("scale", c_double), ("ratio", c_double), ("brightness", c_double),
        ("contrast", c_double), ("saturation", c_double)]


class heed_image_transform(Structure):
    _fields_ = [("size", c_int), ("channels", c_int), ("mean", c_double * 3), ("deviation", c_double * 3), ("resize_to", c_int),
        ("filter", c_int)]
    _enums_ = {'filter': 'heed_filter'}


class heed_images_args(Structure):
    _fields_ = [("size", c_int), ("channels", c_int), ("convert", c_bool), ("val_split", c_double), ("no_test", c_bool),
        ("labels", c_void_p), ("label_count", c_int), ("unlabelled", c_bool), ("strict", c_bool), ("resize_to", c_int),
        ("filter", c_int), ("mean", c_double * 3), ("deviation", c_double * 3), ("augment", heed_augment), ("workers", c_int),
        ("cache", c_size_t)]
    _enums_ = {'filter': 'heed_filter'}


class heed_images_info(Structure):
    _fields_ = [("kind", c_char_p), ("classes", c_int), ("labels", c_void_p), ("count", c_size_t * 3),
        ("view", heed_image_transform), ("low_width", c_int), ("high_width", c_int), ("low_height", c_int), ("high_height", c_int),
        ("sized", c_bool), ("bad", c_size_t), ("others", c_size_t), ("other", c_char_p), ("converted", c_size_t),
        ("checksum", c_uint64), ("sided", c_char * 200), ("overlap", c_size_t * 3)]


class heed_duplicate(Structure):
    _fields_ = [("part", c_int), ("index", c_size_t), ("trained", c_size_t)]
    _enums_ = {'part': 'heed_part'}


class heed_pairs_args(Structure):
    _fields_ = [("kind", c_int), ("val_split", c_double), ("val_path", c_char_p), ("block", c_int), ("labels", c_void_p),
        ("label_count", c_int), ("columns", c_char_p), ("bracket", c_bool)]
    _enums_ = {'kind': 'heed_pair_kind'}


class heed_pairs_info(Structure):
    _fields_ = [("pairs", c_size_t), ("val_pairs", c_size_t), ("blank", c_size_t), ("left_out", c_size_t), ("cut", c_size_t),
        ("extra_columns", c_size_t), ("header", c_bool), ("json", c_bool), ("overlap", c_size_t), ("unknown", c_size_t),
        ("tokens", c_size_t), ("target_unknown", c_size_t), ("target_tokens", c_size_t), ("val_target_unknown", c_size_t),
        ("val_target_tokens", c_size_t), ("longest", c_int), ("target_longest", c_int), ("classes", c_int), ("labels", c_void_p),
        ("checksum", c_uint64)]


class heed_pair(Structure):
    _fields_ = [("line", c_size_t), ("source_n", c_size_t), ("target_n", c_size_t), ("note_n", c_size_t), ("source", c_char_p),
        ("target", c_char_p), ("note", c_char_p)]


class heed_bleu(Structure):
    _fields_ = [("tokens", c_int), ("match", c_size_t * 4), ("total", c_size_t * 4), ("length", c_size_t), ("reference", c_size_t),
        ("longest", c_size_t), ("spaced", c_size_t), ("chinese", c_size_t), ("unspaced", c_size_t)]
    _enums_ = {'tokens': 'heed_bleu_tokens'}


class heed_captions_info(Structure):
    _fields_ = [("pictures", c_size_t), ("captions", c_size_t), ("val_pictures", c_size_t), ("val_captions", c_size_t),
        ("fewest", c_size_t), ("most", c_size_t), ("checksum", c_uint64)]


class heed_captioned(Structure):
    _fields_ = [("path", c_char_p), ("captions", c_size_t)]


class heed_input_spec(Structure):
    _fields_ = [("kind", c_int), ("bracket", c_bool), ("masked", c_bool), ("unlabelled", c_bool), ("per_word", c_bool)]
    _enums_ = {'kind': 'heed_input_kind'}


class heed_data_args(Structure):
    _fields_ = [("run", c_char_p), ("tokenizer", c_void_p), ("source", c_void_p), ("labels", c_void_p), ("label_count", c_int),
        ("eval", c_bool), ("all", c_bool), ("extend", c_bool), ("part", c_char_p), ("cache", c_char_p), ("census", c_uint64),
        ("progress", CFUNCTYPE(c_bool, c_void_p, c_uint64, c_uint64)), ("user", c_void_p)]


class heed_data_kind(Structure):
    _fields_ = [("noun", c_char_p), ("item", c_char_p), ("perplexity", c_bool), ("options", c_void_p), ("conditions", c_void_p),
        ("open", CFUNCTYPE(c_bool, c_void_p, c_void_p, c_void_p)), ("close", CFUNCTYPE(None, c_void_p))]


class heed_data(Structure):
    _fields_ = [("c", c_void_p), ("kind", c_void_p), ("spec", heed_input_spec), ("batches", c_void_p), ("tokenizer", c_void_p),
        ("source", c_void_p), ("checksum", c_uint64), ("tree", c_bool), ("no_val", c_bool), ("part", c_int), ("all", c_bool),
        ("is_val", c_bool), ("labels", c_void_p), ("label_count", c_int), ("sided", c_char_p), ("class_weights", c_void_p)]
    _enums_ = {'part': 'heed_part'}


class heed_reader(Structure):
    _fields_ = [("c", c_void_p), ("spec", heed_input_spec), ("config", c_void_p), ("tokenizer", c_void_p), ("source", c_void_p),
        ("any_length", c_bool), ("empty", c_bool), ("cut", c_bool), ("quiet", c_bool), ("show", c_bool)]


class heed_sequence(Structure):
    _fields_ = [("tokens", heed_tokens), ("labels", c_void_p), ("special", c_void_p)]


class heed_example(Structure):
    _fields_ = [("text", heed_sequence), ("target", heed_sequence), ("words", c_void_p), ("word_count", c_size_t),
        ("word_capacity", c_size_t), ("transform", heed_image_transform), ("x", c_void_p), ("shown", heed_picture),
        ("cropped", c_bool)]


class heed_tape_usage(Structure):
    _fields_ = [("bytes", c_size_t), ("reserved", c_size_t), ("nodes", c_int)]


class heed_recorded(Structure):
    _fields_ = [("op", c_char_p), ("name", c_char_p), ("index", c_int), ("inputs", c_int), ("in", c_void_p), ("y", c_void_p),
        ("kept", c_int), ("kept_name", c_void_p), ("bytes", c_size_t * 2)]


class heed_surrogate(Structure):
    _fields_ = [("op", c_void_p), ("args", c_void_p)]


class heed_case(Structure):
    _fields_ = [("shapes", c_char_p), ("args", c_void_p), ("away", c_char_p), ("surrogate", c_void_p), ("lo", c_float),
        ("hi", c_float), ("fixed", c_uint), ("apart", c_bool), ("eval", c_bool)]


class heed_op(Structure):
    _fields_ = [("name", c_char_p), ("inputs", c_int), ("infer", CFUNCTYPE(c_bool, c_void_p)),
        ("forward", CFUNCTYPE(None, c_void_p)), ("backward", CFUNCTYPE(None, c_void_p)), ("cases", c_void_p),
        ("args_size", c_size_t), ("optional", c_uint)]


class heed_node(Structure):
    _fields_ = [("op", c_void_p), ("tape", c_void_p), ("ctx", c_void_p), ("k", c_void_p), ("name", c_char_p), ("named", c_bool),
        ("index", c_int), ("in", c_void_p), ("inputs", c_int), ("y", c_void_p), ("args", c_void_p), ("kept", c_void_p * 8),
        ("kept_name", c_char_p * 8), ("kept_count", c_int), ("scratch", c_void_p), ("training", c_bool), ("recording", c_bool),
        ("again", CFUNCTYPE(None, c_void_p)), ("dropped", c_bool), ("bytes", c_size_t * 2)]


class heed_conv_args(Structure):
    _fields_ = [("stride", c_int * 2), ("pad", c_int * 2), ("dilation", c_int * 2), ("groups", c_int), ("extra", c_int * 2)]


class heed_pool_args(Structure):
    _fields_ = [("size", c_int * 2), ("stride", c_int * 2), ("pad", c_int * 2)]


class heed_xent_args(Structure):
    _fields_ = [("ignore", c_int), ("has_ignore", c_bool), ("smoothing", c_float), ("weights", c_void_p)]


class heed_recurrent_args(Structure):
    _fields_ = [("cell", c_int), ("act", c_int), ("reverse", c_bool)]
    _enums_ = {'cell': 'heed_cell', 'act': 'heed_act'}


class heed_additive_attention(Structure):
    _fields_ = [("y", c_void_p), ("w_in", c_void_p), ("b_in", c_void_p), ("w", c_void_p), ("b", c_void_p), ("state", c_void_p),
        ("keys", c_void_p), ("values", c_void_p), ("query", c_void_p), ("score", c_void_p), ("shift", c_void_p), ("mask", c_void_p)]


class heed_rotary_args(Structure):
    _fields_ = [("heads", c_int), ("width", c_int), ("first", c_int), ("theta", c_float)]


class heed_attention_args(Structure):
    _fields_ = [("heads", c_int), ("kv_heads", c_int), ("key", c_int), ("value", c_int), ("beta", c_float), ("has_beta", c_bool),
        ("causal", c_bool), ("hard", c_bool), ("dropout", c_float)]


class heed_linear(Structure):
    _fields_ = [("name", c_char_p), ("w", c_void_p), ("b", c_void_p)]


class heed_linear_args(Structure):
    _fields_ = [("in", c_int), ("out", c_int), ("no_bias", c_bool), ("init", c_char_p)]


class heed_norm_args(Structure):
    _fields_ = [("kind", c_int), ("width", c_int), ("eps", c_float), ("no_bias", c_bool)]
    _enums_ = {'kind': 'heed_norm_kind'}


class heed_norm(Structure):
    _fields_ = [("name", c_char_p), ("args", heed_norm_args), ("gain", c_void_p), ("bias", c_void_p)]


class heed_batchnorm(Structure):
    _fields_ = [("name", c_char_p), ("gain", c_void_p), ("bias", c_void_p), ("mean", c_void_p), ("var", c_void_p), ("eps", c_float),
        ("momentum", c_float)]


class heed_drop(Structure):
    _fields_ = [("name", c_char_p), ("p", c_float)]


class heed_conv_layer_args(Structure):
    _fields_ = [("in", c_int), ("out", c_int), ("size", c_int * 2), ("conv", heed_conv_args), ("transposed", c_bool),
        ("no_bias", c_bool), ("init", c_char_p)]


class heed_conv(Structure):
    _fields_ = [("name", c_char_p), ("args", heed_conv_layer_args), ("w", c_void_p), ("b", c_void_p)]


class heed_conv_block_args(Structure):
    _fields_ = [("in", c_int), ("out", c_int), ("stride", c_int), ("no_norm", c_bool), ("no_residual", c_bool), ("dropout", c_float)]


class heed_conv_block(Structure):
    _fields_ = [("args", heed_conv_block_args), ("conv1", heed_conv), ("conv2", heed_conv), ("short_conv", heed_conv),
        ("norm1", heed_batchnorm), ("norm2", heed_batchnorm), ("short_norm", heed_batchnorm), ("drop", heed_drop)]


class heed_position(Structure):
    _fields_ = [("kind", c_int), ("table", c_void_p), ("len", c_int), ("width", c_int)]
    _enums_ = {'kind': 'heed_position_kind'}


class heed_cache(Structure):
    _fields_ = [("len", c_int), ("capacity", c_int), ("k", c_void_p), ("v", c_void_p), ("stride", c_size_t)]


class heed_mha_args(Structure):
    _fields_ = [("width", c_int), ("memory_width", c_int), ("heads", c_int), ("key", c_int), ("value", c_int), ("kv_heads", c_int),
        ("cross", c_bool), ("causal", c_bool), ("hard", c_bool), ("no_out", c_bool), ("no_bias", c_bool), ("explicit_path", c_bool),
        ("has_beta", c_bool), ("beta", c_float), ("dropout", c_float), ("rotary", c_float), ("init", c_char_p), ("out_init", c_char_p)]


class heed_mha(Structure):
    _fields_ = [("name", c_char_p), ("rotary", c_char_p), ("args", heed_mha_args), ("qkv", heed_linear), ("q", heed_linear),
        ("kv", heed_linear), ("out", heed_linear)]


class heed_rows(Structure):
    _fields_ = [("from", c_int), ("count", c_int)]


class heed_ff(Structure):
    _fields_ = [("gate", heed_linear), ("up", heed_linear), ("down", heed_linear), ("act", c_int)]
    _enums_ = {'act': 'heed_act'}


class heed_ff_args(Structure):
    _fields_ = [("width", c_int), ("inner", c_int), ("gated", c_bool), ("act", c_int), ("no_bias", c_bool), ("init", c_char_p),
        ("out_init", c_char_p)]
    _enums_ = {'act': 'heed_act'}


class heed_block_args(Structure):
    _fields_ = [("attn", heed_mha_args), ("cross", heed_mha_args), ("mlp", heed_ff_args), ("pre_norm", c_bool),
        ("norm_no_bias", c_bool), ("norm", c_int), ("eps", c_float), ("dropout", c_float)]
    _enums_ = {'norm': 'heed_norm_kind'}


class heed_block(Structure):
    _fields_ = [("args", heed_block_args), ("attn", heed_mha), ("cross", heed_mha), ("mlp", heed_ff), ("norm1", heed_norm),
        ("norm2", heed_norm), ("norm3", heed_norm), ("drop1", heed_drop), ("drop2", heed_drop), ("drop3", heed_drop)]


class heed_rnn_args(Structure):
    _fields_ = [("in", c_int), ("width", c_int), ("cell", c_int), ("act", c_int), ("layers", c_int), ("bidirectional", c_bool),
        ("one_bias", c_bool), ("dropout", c_float), ("init", c_char_p)]
    _enums_ = {'cell': 'heed_cell', 'act': 'heed_act'}


class heed_rnn_part(Structure):
    _fields_ = [("w_in", c_void_p), ("w", c_void_p), ("b_in", c_void_p), ("b", c_void_p)]


class heed_rnn(Structure):
    _fields_ = [("name", c_char_p), ("args", heed_rnn_args), ("part", heed_rnn_part * 32), ("drop", heed_drop * 16)]


class heed_attend_args(Structure):
    _fields_ = [("kind", c_int), ("query", c_int), ("input", c_int), ("inner", c_int), ("key", c_int), ("value", c_int),
        ("all_biases", c_bool), ("hard", c_bool), ("has_beta", c_bool), ("beta", c_float), ("init", c_char_p)]
    _enums_ = {'kind': 'heed_similarity'}


class heed_attend(Structure):
    _fields_ = [("name", c_char_p), ("args", heed_attend_args), ("q", heed_linear), ("k", heed_linear), ("v", heed_linear),
        ("w", heed_linear), ("u", heed_linear), ("score", heed_linear)]


class heed_attention_kv(Structure):
    _fields_ = [("keys", c_void_p), ("values", c_void_p), ("mask", c_void_p)]


class heed_attended(Structure):
    _fields_ = [("q", c_void_p), ("scores", c_void_p), ("weights", c_void_p)]


class heed_layer_case(Structure):
    _fields_ = [("name", c_char_p), ("size", c_size_t), ("init", CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)),
        ("apply", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p)), ("args", c_void_p)]


class heed_score(Structure):
    _fields_ = [("loss", c_double), ("weight", c_double), ("correct", c_double), ("total", c_double), ("top5", c_double),
        ("bytes", c_double), ("squares", c_double), ("pixels", c_double)]


class heed_model_input(Structure):
    _fields_ = [("x", c_void_p), ("pad", c_void_p), ("types", c_void_p), ("target", c_void_p), ("masked_positions", c_void_p)]


class heed_attending(Structure):
    _fields_ = [("path", c_char_p), ("stack", c_int), ("layer", c_int), ("heads", c_int), ("kv_heads", c_int), ("key", c_int),
        ("value", c_int), ("rotary", c_double), ("beta", c_double), ("causal", c_bool), ("hard", c_bool), ("additive", c_bool),
        ("fixed", c_bool), ("align", c_void_p)]
    _enums_ = {'stack': 'heed_stack'}


class heed_grid(Structure):
    _fields_ = [("rows", c_int), ("cols", c_int), ("first", c_int), ("hidden", c_int)]


class heed_source(Structure):
    _fields_ = [("count", c_int), ("kept", c_void_p * 128)]


class heed_steps(Structure):
    _fields_ = [("length", CFUNCTYPE(c_int, c_void_p)), ("read", CFUNCTYPE(c_bool, c_void_p, c_void_p, c_void_p, c_void_p)),
        ("state", CFUNCTYPE(c_size_t, c_void_p, c_void_p)), ("start", CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)),
        ("next", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_int, c_void_p)), ("batched", c_bool)]


class heed_preset(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("settings", c_char_p), ("workload", c_bool)]


class heed_model_case(Structure):
    _fields_ = [("name", c_char_p), ("settings", c_char_p)]


class heed_choice(Structure):
    _fields_ = [("what", c_char * 160), ("why", c_char * 120)]


class heed_choices(Structure):
    _fields_ = [("config", c_void_p), ("data", c_void_p), ("only", c_void_p), ("list", heed_choice * 12), ("count", c_int)]


class heed_model(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("kind", c_int), ("answers", c_int), ("bracket", c_bool),
        ("embedding", c_char_p), ("options", c_void_p), ("conditions", c_void_p), ("defaults", c_char_p), ("presets", c_void_p),
        ("cases", c_void_p), ("size", c_size_t), ("init", CFUNCTYPE(c_bool, c_void_p, c_void_p, c_void_p)),
        ("batch", CFUNCTYPE(c_bool, c_void_p, c_void_p, heed_batch_at, c_void_p)),
        ("eval_batches", CFUNCTYPE(c_uint64, c_void_p, c_void_p, c_int)),
        ("epoch_batches", CFUNCTYPE(c_uint64, c_void_p, c_void_p, c_int)),
        ("logits", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p)), ("loss", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p)),
        ("metrics", CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)), ("attending", CFUNCTYPE(c_bool, c_void_p, c_int, c_void_p)),
        ("average", CFUNCTYPE(None, c_void_p, c_bool)), ("grid", CFUNCTYPE(c_bool, c_void_p, c_void_p)),
        ("chosen", CFUNCTYPE(c_bool, c_void_p, c_void_p)), ("choose", CFUNCTYPE(c_bool, c_void_p)), ("choices", c_char_p),
        ("steps", c_void_p), ("code", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p)), ("published", c_void_p)]
    _enums_ = {'kind': 'heed_input_kind', 'answers': 'heed_answer'}


class heed_generation(Structure):
    _fields_ = [("source", c_void_p), ("source_count", c_size_t), ("picture", c_void_p), ("picture_size", c_int),
        ("picture_channels", c_int), ("prompt", c_void_p), ("prompt_count", c_size_t), ("count", c_int), ("beam", c_int),
        ("length_penalty", c_double), ("temperature", c_double), ("top_k", c_int), ("top_p", c_double), ("never", c_void_p),
        ("never_count", c_int), ("seed", c_uint64), ("sample", c_uint32), ("samples", c_int), ("uncached", c_bool),
        ("has_end", c_bool), ("end", c_int32), ("token", CFUNCTYPE(c_bool, c_void_p, c_int32)),
        ("sampled", CFUNCTYPE(c_bool, c_void_p, c_int, c_int32)), ("stop", CFUNCTYPE(c_bool, c_void_p)), ("user", c_void_p)]


class heed_generated(Structure):
    _fields_ = [("count", c_int), ("ended", c_bool), ("log_probability", c_double), ("seen", c_int)]


class heed_optim_args(Structure):
    _fields_ = [("optimizer", c_void_p), ("lr", c_float), ("decay", c_float), ("momentum", c_float), ("alpha", c_float),
        ("beta1", c_float), ("beta2", c_float), ("eps", c_float), ("extra", c_float * 4)]


class heed_optim_setting(Structure):
    _fields_ = [("name", c_char_p), ("at", c_size_t), ("value", c_double), ("min", c_double), ("end", c_double)]


class heed_optim_update(Structure):
    _fields_ = [("args", c_void_p), ("step", c_int64), ("lr", c_float), ("decay", c_float), ("grad_scale", c_float), ("k", c_void_p)]


class heed_optim_case(Structure):
    _fields_ = [("settings", c_char_p), ("x", c_double * 8)]


class heed_optimizer(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("prefix", c_char_p), ("slots", c_char_p * 4), ("settings", c_void_p),
        ("update", CFUNCTYPE(None, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t)), ("cases", c_void_p), ("elementwise", c_bool),
        ("full_batch", c_bool)]


class heed_schedule(Structure):
    _fields_ = [("kind", c_int), ("steps", c_int64), ("warmup", c_int64), ("floor", c_float), ("every", c_int64), ("gamma", c_float)]
    _enums_ = {'kind': 'heed_schedule_kind'}


class heed_memory_op(Structure):
    _fields_ = [("op", c_char_p), ("count", c_int), ("forward", c_size_t), ("backward", c_size_t)]


class heed_memory(Structure):
    _fields_ = [("before", c_size_t), ("weights", c_size_t), ("gradients", c_size_t), ("optimizer", c_size_t), ("step", c_size_t),
        ("other", c_size_t), ("evaluation", c_size_t), ("total", c_size_t), ("ops", heed_memory_op * 24), ("op_count", c_int)]


class heed_report(Structure):
    _fields_ = [("event", c_int), ("step", c_int64), ("steps", c_int64), ("progress", c_double), ("epoch", c_double),
        ("loss", c_double), ("val_loss", c_double), ("metric", c_double), ("val_total", c_double), ("bits_per_byte", c_double),
        ("best", c_bool), ("lr", c_double), ("grad_norm", c_double), ("items_per_s", c_double), ("seconds", c_double),
        ("seconds_left", c_double), ("params", c_size_t), ("bytes", c_size_t), ("epoch_batches", c_uint64), ("store", c_void_p),
        ("self", c_void_p), ("start", c_void_p), ("memory", c_void_p), ("note", c_char_p)]
    _enums_ = {'event': 'heed_fit_event'}


class heed_cluster(Structure):
    _fields_ = [("rank", c_int), ("ranks", c_int),
        ("exchange", CFUNCTYPE(c_bool, c_void_p, c_int, c_void_p, c_size_t, c_int, c_void_p, c_size_t)),
        ("wait", CFUNCTYPE(c_bool, c_void_p, c_size_t)), ("user", c_void_p)]


class heed_fit_args(Structure):
    _fields_ = [("model", c_void_p), ("config", c_void_p), ("data", c_void_p), ("data_checksum", c_uint64), ("tokenizer", c_void_p),
        ("source", c_void_p), ("tokenizer_digest", c_uint64), ("run", c_char_p), ("labels", c_void_p), ("label_count", c_int),
        ("no_val", c_bool), ("resume", c_bool), ("force", c_bool), ("keep", c_char_p), ("from", c_void_p), ("models", c_void_p),
        ("report", CFUNCTYPE(None, c_void_p, c_void_p)), ("stop", CFUNCTYPE(c_bool, c_void_p)), ("user", c_void_p),
        ("cluster", c_void_p)]


class heed_fit_result(Structure):
    _fields_ = [("step", c_int64), ("loss", c_double), ("val_loss", c_double), ("best_loss", c_double), ("metric", c_double),
        ("best_metric", c_double), ("first", c_double * 2), ("best_step", c_int64)]


class heed_train_args(Structure):
    _fields_ = [("model", c_void_p), ("data", c_char_p), ("run", c_char_p), ("keep", c_char_p), ("settings", c_char_p),
        ("values", c_void_p), ("preset", c_char_p), ("models", c_void_p), ("resume", c_bool), ("force", c_bool),
        ("report", CFUNCTYPE(None, c_void_p, c_void_p)), ("stop", CFUNCTYPE(c_bool, c_void_p)), ("user", c_void_p),
        ("cluster", c_void_p)]


class heed_run(Structure):
    _fields_ = [("c", c_void_p), ("dir", c_char_p), ("model", c_void_p), ("config", c_void_p), ("store", c_void_p),
        ("tape", c_void_p), ("tokenizer", c_void_p), ("source", c_void_p), ("labels", c_void_p), ("label_count", c_int),
        ("self", c_void_p), ("step", c_int64), ("adapters", c_int), ("data_checksum", c_uint64)]


class heed_start_entry(Structure):
    _fields_ = [("name", c_char_p), ("how", c_int), ("rows", c_int), ("to", c_void_p), ("from", c_void_p)]
    _enums_ = {'how': 'heed_start_how'}


class heed_start(Structure):
    _fields_ = [("run", c_void_p), ("entries", c_void_p), ("count", c_int), ("capacity", c_size_t)]


class heed_row_names(Structure):
    _fields_ = [("tokenizer", c_void_p), ("source", c_void_p), ("labels", c_void_p), ("label_count", c_int)]


class heed_published_key(Structure):
    _fields_ = [("key", c_char_p), ("settings", c_char_p), ("value", c_char_p), ("values", c_char_p), ("rows", c_char_p),
        ("dim", c_int), ("repeats", c_bool)]


class heed_published_tensor(Structure):
    _fields_ = [("name", c_char_p), ("published", c_char_p), ("form", c_int)]
    _enums_ = {'form': 'heed_published_form'}


class heed_published(Structure):
    _fields_ = [("type", c_char_p), ("architectures", c_char_p), ("settings", c_char_p), ("prefix", c_char_p), ("renames", c_void_p),
        ("ignored", c_char_p), ("dropped", c_char_p), ("harmless", c_char_p), ("present", c_char_p), ("vectors", c_bool),
        ("angles", c_char_p), ("more", c_char_p), ("keys", c_void_p), ("tensors", c_void_p)]


class heed_graph_node(Structure):
    _fields_ = [("op", heed_recorded), ("y", c_void_p), ("activation", c_char_p), ("grad", c_bool), ("group", c_int),
        ("in_count", c_int), ("in", c_void_p), ("params", c_int), ("param", c_void_p)]


class heed_graph_group(Structure):
    _fields_ = [("path", c_char_p), ("parent", c_int), ("nodes", c_int), ("like", c_int)]


class heed_graph(Structure):
    _fields_ = [("c", c_void_p), ("count", c_int), ("group_count", c_int), ("nodes", c_void_p), ("groups", c_void_p),
        ("memory", c_void_p), ("names", c_void_p)]


class heed_graph_view(Structure):
    _fields_ = [("title", c_char_p), ("depth", c_int), ("unfold", c_bool), ("backward", c_bool)]


class heed_profile_row(Structure):
    _fields_ = [("phase", c_int), ("op", c_char_p), ("product", c_char_p), ("m", c_int), ("n", c_int), ("k", c_int),
        ("calls", c_uint64), ("seconds", c_double), ("flops", c_double), ("bytes", c_double), ("regions", c_uint64),
        ("parallel", c_double), ("uneven", c_double), ("sync", c_double)]
    _enums_ = {'phase': 'heed_phase'}


class heed_matrix(Structure):
    _fields_ = [("rows", c_int), ("cols", c_int), ("x", c_void_p)]


class heed_lesson_args(Structure):
    _fields_ = [("tokens", c_int), ("features", c_int), ("sources", c_int), ("memory", c_int), ("key", c_int), ("value", c_int),
        ("x", c_void_p), ("z", c_void_p), ("w_q", c_void_p), ("w_k", c_void_p), ("w_v", c_void_p), ("b_q", c_void_p),
        ("b_k", c_void_p), ("b_v", c_void_p), ("beta", c_double), ("rotary", c_double), ("causal", c_bool), ("hard", c_bool),
        ("hide", c_void_p), ("width", c_int), ("w_h", c_void_p), ("b_o", c_void_p), ("others", c_void_p), ("gain", c_void_p),
        ("norm_bias", c_void_p), ("eps", c_double)]


class heed_lesson(Structure):
    _fields_ = [("args", heed_lesson_args), ("self", c_bool), ("hidden", c_void_p), ("part", heed_matrix * 26), ("memory", c_void_p)]


class heed_lesson_gradient(Structure):
    _fields_ = [("output", heed_matrix), ("weights", heed_matrix), ("scores", heed_matrix), ("raw", heed_matrix), ("q", heed_matrix),
        ("k", heed_matrix), ("v", heed_matrix), ("q_r", heed_matrix), ("k_r", heed_matrix), ("w_q", heed_matrix),
        ("w_k", heed_matrix), ("w_v", heed_matrix), ("b_q", heed_matrix), ("b_k", heed_matrix), ("b_v", heed_matrix),
        ("x", heed_matrix), ("z", heed_matrix), ("normed", heed_matrix), ("all", heed_matrix), ("gain", heed_matrix),
        ("bias", heed_matrix), ("b_o", heed_matrix), ("share", heed_matrix), ("w_h", heed_matrix), ("memory", c_void_p)]


class heed_matmul_how(Structure):
    _fields_ = [("left_transposed", c_bool), ("right_transposed", c_bool), ("add", c_bool)]


class heed_record_axis(Structure):
    _fields_ = [("name", c_char_p), ("count", c_int), ("labels", c_void_p), ("special", c_void_p), ("rows", c_int), ("cols", c_int),
        ("first", c_int)]


class heed_record_block(Structure):
    _fields_ = [("path", c_char_p), ("stack", c_int), ("layer", c_int), ("heads", c_int), ("head", c_void_p), ("queries", c_int),
        ("keys", c_int), ("kv_heads", c_int), ("key", c_int), ("value", c_int), ("beta", c_double), ("rotary", c_double),
        ("causal", c_bool), ("hard", c_bool), ("additive", c_bool), ("weights", c_void_p), ("raw", c_void_p), ("scores", c_void_p),
        ("q", c_void_p), ("k", c_void_p), ("v", c_void_p), ("align", c_void_p)]
    _enums_ = {'stack': 'heed_stack'}


class heed_record_map(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("layer", c_int), ("head", c_int), ("stack", c_int), ("queries", c_int),
        ("keys", c_int), ("values", c_void_p)]
    _enums_ = {'stack': 'heed_stack'}


class heed_record_guess(Structure):
    _fields_ = [("axis", c_int), ("query", c_int), ("says", c_char_p), ("count", c_int), ("labels", c_void_p), ("p", c_void_p)]


class heed_record(Structure):
    _fields_ = [("title", c_char_p), ("model", c_char_p), ("task", c_char_p), ("note", c_char_p), ("step", c_int64),
        ("axis_count", c_int), ("block_count", c_int), ("map_count", c_int), ("guess_count", c_int), ("axes", c_void_p),
        ("blocks", c_void_p), ("maps", c_void_p), ("guesses", c_void_p), ("pixels", c_void_p), ("width", c_int), ("height", c_int),
        ("channels", c_int)]


class heed_record_texts(Structure):
    _fields_ = [("title", c_char_p), ("model", c_char_p), ("task", c_char_p), ("note", c_char_p)]


class heed_record_cut(Structure):
    _fields_ = [("layer_count", c_int), ("head_count", c_int), ("tokens", c_int), ("layers", c_void_p), ("heads", c_void_p),
        ("no_qk", c_bool)]


class heed_question(Structure):
    _fields_ = [("axis", c_int), ("query", c_int), ("row", c_int), ("says", c_char * 32)]


class heed_inspection(Structure):
    _fields_ = [("run", c_void_p), ("example", heed_example), ("title", c_void_p), ("axis_count", c_int),
        ("axes", heed_record_axis * 3), ("labels", c_void_p * 3), ("special", c_void_p * 3), ("question_count", c_int),
        ("questions", c_void_p), ("count", c_int), ("ids", c_void_p), ("target_count", c_int), ("target", c_void_p),
        ("read", c_void_p), ("x", c_void_p), ("dims", c_int), ("shape", c_int * 4)]


class heed_capture_args(Structure):
    _fields_ = [("layer_count", c_int), ("head_count", c_int), ("layers", c_void_p), ("heads", c_void_p), ("stack", c_void_p),
        ("lean", c_bool), ("top", c_int), ("most", c_double)]
    _enums_ = {'stack': 'heed_stack'}


class heed_rollout_args(Structure):
    _fields_ = [("layers", c_int), ("heads", c_int), ("tokens", c_int), ("weights", c_void_p), ("max", c_bool), ("discard", c_double)]


class heed_rollout_add_args(Structure):
    _fields_ = [("max", c_bool), ("discard", c_double)]


class heed_occlusion_args(Structure):
    _fields_ = [("window", c_int), ("progress", CFUNCTYPE(c_bool, c_void_p, c_uint64, c_uint64)), ("user", c_void_p)]


class heed_gradient_args(Structure):
    _fields_ = [("question", c_int), ("only", c_bool), ("by_head", c_bool),
        ("progress", CFUNCTYPE(c_bool, c_void_p, c_uint64, c_uint64)), ("user", c_void_p)]


class heed_influence_args(Structure):
    _fields_ = [("draws", c_int), ("exact", c_bool), ("how", c_void_p),
        ("progress", CFUNCTYPE(c_bool, c_void_p, c_uint64, c_uint64)), ("user", c_void_p)]


class heed_evaluation(Structure):
    _fields_ = [("run", c_void_p), ("data", c_void_p), ("rows", c_int), ("batches", c_uint64), ("sample", c_bool),
        ("what", c_char_p), ("batch", CFUNCTYPE(c_bool, c_void_p, c_uint64, c_void_p, c_void_p)), ("user", c_void_p),
        ("progress", CFUNCTYPE(c_bool, c_void_p, c_uint64, c_uint64)), ("progress_user", c_void_p)]


class heed_estimate(Structure):
    _fields_ = [("count", c_int), ("mean", c_double), ("half", c_double)]


class heed_head_sums(Structure):
    _fields_ = [("sum", c_double * 10), ("rows", c_double * 10)]


class heed_head_table(Structure):
    _fields_ = [("layer_count", c_int), ("layers", c_void_p), ("first", c_void_p), ("head_count", c_int), ("heads", c_void_p),
        ("uniform", heed_head_sums * 3)]


class heed_head_backup_part0(Structure):
    _fields_ = [("tensor", c_void_p), ("from", c_size_t), ("count", c_size_t), ("saved", c_void_p)]


class heed_head_backup(Structure):
    _fields_ = [("part", heed_head_backup_part0 * 2), ("parts", c_int), ("averaged", c_void_p)]


class heed_ablated_head(Structure):
    _fields_ = [("layer", c_int), ("head", c_int), ("loss", c_double), ("accuracy", c_double), ("harm", heed_estimate)]


class heed_ablation(Structure):
    _fields_ = [("layer_count", c_int), ("layers", c_void_p), ("loss", c_double), ("accuracy", c_double), ("head_count", c_int),
        ("heads", c_void_p)]


class heed_patch_ablation_args(Structure):
    _fields_ = [("images", c_void_p), ("part", c_int), ("pictures", c_int), ("share", c_double),
        ("progress", CFUNCTYPE(c_bool, c_void_p, c_uint64, c_uint64)), ("user", c_void_p)]
    _enums_ = {'part': 'heed_part'}


class heed_patch_ablation_part0(Structure):
    _fields_ = [("fall", heed_estimate), ("more", heed_estimate), ("kept", c_double)]


class heed_patch_ablation(Structure):
    _fields_ = [("pictures", c_int), ("patches", c_int), ("hidden", c_int), ("p", c_double), ("correct", c_double),
        ("by", heed_patch_ablation_part0 * 5)]


class heed_prediction(Structure):
    _fields_ = [("label", c_int), ("predicted", c_int), ("rank", c_int), ("p", c_double), ("loss", c_double)]


class heed_class_score(Structure):
    _fields_ = [("count", c_size_t), ("predicted", c_size_t), ("correct", c_size_t), ("recall", c_double), ("precision", c_double)]


class heed_snapshots_args(Structure):
    _fields_ = [("run", c_char_p), ("count", c_int64), ("items", c_int), ("input", c_char_p)]


class heed_alignment_range(Structure):
    _fields_ = [("first", c_int), ("last", c_int)]


class heed_alignment_peaks(Structure):
    _fields_ = [("layers", c_int), ("heads", c_int), ("count", c_size_t), ("correct", c_void_p)]


class heed_reconstruction(Structure):
    _fields_ = [("size", c_int), ("channels", c_int), ("hidden", c_int), ("error", c_double), ("pixels", c_void_p * 4)]


class heed_moments(Structure):
    _fields_ = [("c", c_void_p), ("n", c_int), ("count", c_double), ("mean", c_void_p), ("covariance", c_void_p), ("shift", c_void_p)]


class heed_best_linear_args(Structure):
    _fields_ = [("run", c_void_p), ("images", c_void_p), ("part", c_int), ("rows", c_int),
        ("progress", CFUNCTYPE(c_bool, c_void_p, c_uint64, c_uint64)), ("user", c_void_p)]
    _enums_ = {'part': 'heed_part'}


class heed_best_linear_result(Structure):
    _fields_ = [("trained", c_size_t), ("count", c_size_t), ("components", c_int), ("ridge", c_double), ("error", c_double)]


class heed_codes(Structure):
    _fields_ = [("count", c_int), ("width", c_int), ("x", c_void_p), ("label", c_void_p)]


class heed_heatmap(Structure):
    _fields_ = [("title", c_char_p), ("rows", c_int), ("cols", c_int), ("values", c_void_p), ("row_labels", c_void_p),
        ("col_labels", c_void_p), ("hi", c_float), ("lo", c_float), ("unit", c_char_p), ("numbers", c_bool), ("terminal", c_int),
        ("width", c_int), ("percent", c_bool), ("uniform", c_double), ("uniform_mean", c_bool), ("ends", c_void_p),
        ("units", c_void_p), ("shares", c_void_p), ("grid_cols", c_int), ("note", c_char_p), ("pixels", c_bool), ("continues", c_bool)]
    _enums_ = {'terminal': 'heed_terminal'}


class heed_focus(Structure):
    _fields_ = [("block", c_int), ("head", c_int), ("count", c_int), ("score", c_double), ("positional", c_double)]


class heed_series(Structure):
    _fields_ = [("label", c_char_p), ("count", c_int), ("x", c_void_p), ("y", c_void_p)]


class heed_chart(Structure):
    _fields_ = [("title", c_char_p), ("x_label", c_char_p), ("y_label", c_char_p), ("series_count", c_int), ("series", c_void_p),
        ("from_zero", c_bool), ("log2_x", c_bool), ("mark", c_char_p), ("mark_series", c_int), ("mark_point", c_int),
        ("colors", c_void_p)]


class heed_tile(Structure):
    _fields_ = [("pixels", c_void_p), ("width", c_int), ("height", c_int), ("channels", c_int), ("captions", c_char_p * 3)]


class heed_sheet(Structure):
    _fields_ = [("title", c_char_p), ("count", c_int), ("columns", c_int), ("side", c_int), ("tiles", c_void_p)]


class heed_panels(Structure):
    _fields_ = [("title", c_char_p), ("subtitle", c_char_p), ("note", c_char_p), ("count", c_int), ("columns", c_int),
        ("maps", c_void_p)]


class heed_overlay(Structure):
    _fields_ = [("title", c_char_p), ("pixels", c_void_p), ("width", c_int), ("height", c_int), ("channels", c_int), ("rows", c_int),
        ("cols", c_int), ("count", c_int), ("maps", c_void_p), ("captions", c_void_p), ("cells", c_bool), ("uniform", c_double),
        ("measures", c_int), ("hi", c_double), ("note", c_char_p), ("subtitle", c_char_p), ("of", c_char_p), ("fused", c_int),
        ("units", c_void_p), ("least", c_void_p), ("shares", c_void_p)]


class heed_page(Structure):
    _fields_ = [("count", c_int), ("records", c_void_p), ("curves", c_void_p), ("steps", c_char_p), ("opening", c_char_p),
        ("no_qk", c_bool), ("force", c_bool)]


# name: result, parameters
FUNCTIONS = {
    "heed_open_real": (c_void_p, (c_void_p, c_size_t,)),
    "heed_close": (None, (c_void_p,)),
    "heed_ctx_status": (c_int, (c_void_p,)),
    "heed_ctx_error": (c_char_p, (c_void_p,)),
    "heed_ctx_missing": (c_char_p, (c_void_p, c_void_p,)),
    "heed_clear": (None, (c_void_p,)),
    "heed_fail": (c_bool, (c_void_p, c_int, c_char_p,)),
    "heed_fail_input": (c_bool, (c_void_p, c_char_p, c_bool, c_char_p,)),
    "heed_message": (None, (c_void_p, c_int, c_char_p,)),
    "heed_seed": (c_uint64, (c_void_p,)),
    "heed_threads": (c_int, (c_void_p,)),
    "heed_isa": (c_char_p, (c_void_p,)),
    "heed_set_precision": (c_bool, (c_void_p, c_int,)),
    "heed_bf16_is_faster": (c_bool, ()),
    "heed_cpu_oversubscribed": (c_bool, (c_void_p, c_void_p,)),
    "heed_philox": (None, (c_uint64, c_void_p, c_void_p,)),
    "heed_random_at": (heed_random, (c_uint64, c_char_p, c_uint64, c_uint32,)),
    "heed_random_bits": (c_uint32, (c_void_p, c_uint64,)),
    "heed_random_uniform": (c_double, (c_void_p, c_uint64,)),
    "heed_random_normal": (c_double, (c_void_p, c_uint64,)),
    "heed_random_below": (c_uint32, (c_void_p, c_uint64, c_uint32,)),
    "heed_random_permute": (c_uint64, (c_void_p, c_uint64, c_uint64,)),
    "heed_shape_text": (c_void_p, (c_void_p, c_void_p, c_size_t,)),
    "heed_same_shape": (c_bool, (c_void_p, c_void_p,)),
    "heed_extent": (c_size_t, (c_void_p, c_int, c_int,)),
    "heed_store_new": (c_void_p, (c_void_p,)),
    "heed_store_free": (None, (c_void_p,)),
    "heed_store_ctx": (c_void_p, (c_void_p,)),
    "heed_param": (c_void_p, (c_void_p, c_char_p, c_char_p, c_int, c_void_p,)),
    "heed_state_new": (c_void_p, (c_void_p, c_char_p, c_char_p, c_int, c_void_p,)),
    "heed_name_rows": (c_bool, (c_void_p, c_void_p, c_char_p, c_int, c_int,)),
    "heed_scope": (c_char_p, (c_void_p, c_char_p,)),
    "heed_unscope": (None, (c_void_p,)),
    "heed_store_count": (c_int, (c_void_p,)),
    "heed_store_at": (c_void_p, (c_void_p, c_int,)),
    "heed_store_find": (c_void_p, (c_void_p, c_char_p,)),
    "heed_store_params": (c_size_t, (c_void_p,)),
    "heed_freeze": (c_int, (c_void_p, c_char_p,)),
    "heed_freeze_for": (c_int, (c_void_p, c_char_p, c_int64,)),
    "heed_set_decay": (c_int, (c_void_p, c_char_p, c_bool,)),
    "heed_set_lr_scale": (c_int, (c_void_p, c_char_p, c_float,)),
    "heed_set_rows": (c_int, (c_void_p, c_char_p, c_int,)),
    "heed_thaw": (c_int, (c_void_p, c_int64,)),
    "heed_zero_grads": (None, (c_void_p,)),
    "heed_match": (c_bool, (c_char_p, c_char_p,)),
    "heed_text_add": (c_bool, (c_void_p, c_char_p,)),
    "heed_text_put": (c_bool, (c_void_p, c_char_p, c_size_t,)),
    "heed_text_free": (None, (c_void_p,)),
    "heed_text_save": (c_bool, (c_void_p, c_char_p,)),
    "heed_utf8_read": (c_size_t, (c_char_p, c_size_t, c_void_p,)),
    "heed_utf8_write": (c_size_t, (c_int32, c_void_p,)),
    "heed_utf8_valid": (c_size_t, (c_char_p, c_size_t,)),
    "heed_utf8_count": (c_size_t, (c_char_p, c_size_t,)),
    "heed_utf8_put": (c_bool, (c_void_p, c_char_p, c_size_t,)),
    "heed_label_text": (c_int, (c_char_p, c_int, c_void_p,)),
    "heed_label_columns": (c_int, (c_char_p,)),
    "heed_label_cut": (c_size_t, (c_char_p, c_int,)),
    "heed_label_words": (None, (c_char_p, c_int, c_int, c_void_p,)),
    "heed_table_text": (None, (c_void_p, c_int, c_void_p,)),
    "heed_format_count": (c_void_p, (c_void_p, c_uint64,)),
    "heed_format_bytes": (c_void_p, (c_void_p, c_double,)),
    "heed_format_duration": (c_void_p, (c_void_p, c_double,)),
    "heed_format_shell": (c_char_p, (c_void_p, c_size_t, c_char_p,)),
    "heed_format_token": (c_void_p, (c_void_p, c_size_t, c_char_p,)),
    "heed_format_line": (c_void_p, (c_void_p, c_size_t, c_char_p,)),
    "heed_text_edits": (c_size_t, (c_char_p, c_size_t, c_char_p, c_size_t,)),
    "heed_closest": (c_char_p, (c_char_p, c_void_p,)),
    "heed_quote": (c_char_p, (c_void_p, c_char_p, c_size_t,)),
    "heed_reject": (c_bool, (c_void_p, c_int, heed_problem,)),
    "heed_csv_open": (c_bool, (c_void_p, c_void_p, c_char_p, c_char_p, c_void_p, c_size_t,)),
    "heed_csv_next": (c_bool, (c_void_p,)),
    "heed_csv_find": (c_int, (c_void_p, c_char_p,)),
    "heed_csv_reject": (c_bool, (c_void_p, c_char_p, c_char_p,)),
    "heed_csv_put": (c_bool, (c_void_p, c_char_p,)),
    "heed_json_open": (None, (c_void_p, c_char_p, c_char,)),
    "heed_json_close": (None, (c_void_p, c_char,)),
    "heed_json_text": (None, (c_void_p, c_char_p, c_char_p,)),
    "heed_json_int": (None, (c_void_p, c_char_p, c_int64,)),
    "heed_json_real": (None, (c_void_p, c_char_p, c_double, c_int,)),
    "heed_json_bool": (None, (c_void_p, c_char_p, c_bool,)),
    "heed_save": (c_bool, (c_void_p, c_char_p,)),
    "heed_save_meta": (c_bool, (c_void_p, c_char_p, c_void_p,)),
    "heed_load": (c_bool, (c_void_p, c_char_p,)),
    "heed_load_bytes": (c_bool, (c_void_p, c_void_p, c_size_t,)),
    "heed_safetensors_open": (c_void_p, (c_void_p, c_char_p,)),
    "heed_safetensors_close": (None, (c_void_p,)),
    "heed_safetensors_count": (c_int, (c_void_p,)),
    "heed_safetensors_at": (c_void_p, (c_void_p, c_int,)),
    "heed_safetensors_find": (c_void_p, (c_void_p, c_char_p,)),
    "heed_safetensors_meta": (c_char_p, (c_void_p, c_char_p,)),
    "heed_config_new": (c_void_p, (c_void_p, c_void_p,)),
    "heed_config_free": (None, (c_void_p,)),
    "heed_config_set": (c_bool, (c_void_p, c_char_p, c_char_p, c_char_p, c_int,)),
    "heed_config_set_list": (c_bool, (c_void_p, c_char_p, c_char_p, c_int,)),
    "heed_config_read": (c_bool, (c_void_p, c_char_p, c_int,)),
    "heed_config_args": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_config_check": (c_bool, (c_void_p, c_void_p,)),
    "heed_config_int": (c_int64, (c_void_p, c_char_p,)),
    "heed_config_real": (c_double, (c_void_p, c_char_p,)),
    "heed_config_bool": (c_bool, (c_void_p, c_char_p,)),
    "heed_config_text": (c_char_p, (c_void_p, c_char_p,)),
    "heed_config_default": (c_char_p, (c_void_p, c_char_p,)),
    "heed_config_rank": (c_int, (c_void_p, c_char_p,)),
    "heed_config_has": (c_bool, (c_void_p, c_char_p,)),
    "heed_config_count": (c_int, (c_void_p,)),
    "heed_config_at": (c_void_p, (c_void_p, c_int, c_void_p,)),
    "heed_config_by_data": (None, (c_void_p, c_char_p,)),
    "heed_config_group": (c_char_p, (c_void_p, c_int,)),
    "heed_config_write": (c_bool, (c_void_p, c_void_p, c_bool,)),
    "heed_config_help": (c_bool, (c_void_p, c_void_p, c_int,)),
    "heed_npy_save": (c_bool, (c_void_p, c_char_p, c_void_p,)),
    "heed_npz_save": (c_bool, (c_void_p, c_char_p, c_int, c_void_p, c_void_p,)),
    "heed_png_save": (c_bool, (c_void_p, c_char_p, c_void_p, c_int, c_int,)),
    "heed_tokenizer_train": (c_void_p, (c_void_p, c_char_p, c_size_t, heed_tokenizer_args,)),
    "heed_tokenizer_extend": (c_void_p, (c_void_p, c_char_p, c_size_t, c_int, c_bool,)),
    "heed_tokenizer_open": (c_void_p, (c_void_p, c_char_p,)),
    "heed_tokenizer_save": (c_bool, (c_void_p, c_char_p,)),
    "heed_tokenizer_free": (None, (c_void_p,)),
    "heed_tokenizer_kind": (c_char_p, (c_void_p,)),
    "heed_tokenizer_digest": (c_uint64, (c_void_p,)),
    "heed_vocab_size": (c_int, (c_void_p,)),
    "heed_tokenizer_specials": (heed_specials, (c_void_p,)),
    "heed_token_id": (c_int, (c_void_p, c_char_p,)),
    "heed_token_text": (c_char_p, (c_void_p, c_int,)),
    "heed_encode": (c_bool, (c_void_p, c_char_p, c_size_t, c_void_p,)),
    "heed_decode": (c_bool, (c_void_p, c_void_p, c_size_t, c_void_p,)),
    "heed_tokens_free": (None, (c_void_p,)),
    "heed_text_read": (c_void_p, (c_void_p, c_char_p, c_void_p,)),
    "heed_text_survey": (c_bool, (c_void_p, c_char_p, c_void_p,)),
    "heed_corpus_open": (c_void_p, (c_void_p, c_char_p, c_void_p, heed_corpus_args,)),
    "heed_corpus_free": (None, (c_void_p,)),
    "heed_corpus_about": (heed_corpus_info, (c_void_p,)),
    "heed_corpus_keep": (c_bool, (c_void_p, c_char_p,)),
    "heed_gpt_batch": (c_bool, (c_void_p, heed_batch_at, c_void_p,)),
    "heed_mlm_batch": (c_bool, (c_void_p, heed_batch_at, c_double, c_void_p,)),
    "heed_corpus_eval_batches": (c_uint64, (c_void_p, c_int,)),
    "heed_corpus_epoch_batches": (c_uint64, (c_void_p, c_int,)),
    "heed_picture_decode": (c_int, (c_void_p, c_size_t, c_char_p, c_void_p, c_void_p,)),
    "heed_picture_read": (c_int, (c_char_p, c_void_p, c_void_p,)),
    "heed_picture_free": (None, (c_void_p,)),
    "heed_picture_convert": (c_int, (c_void_p, c_int,)),
    "heed_resize_work": (c_size_t, (c_void_p, c_int, c_int,)),
    "heed_picture_resize": (None, (c_void_p, heed_box, c_int, c_int, c_void_p, c_void_p,)),
    "heed_image_transform_work": (c_size_t, (c_void_p, c_void_p,)),
    "heed_picture_transform": (None, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_masked_patches": (None, (c_void_p, heed_batch_at, c_int, c_int, c_int, c_void_p,)),
    "heed_images_open": (c_void_p, (c_void_p, c_char_p, c_void_p,)),
    "heed_images_close": (None, (c_void_p,)),
    "heed_images_about": (c_void_p, (c_void_p,)),
    "heed_images_bad": (c_bool, (c_void_p, c_size_t, c_void_p, c_void_p,)),
    "heed_images_duplicate": (c_bool, (c_void_p, c_void_p,)),
    "heed_images_count": (c_size_t, (c_void_p, c_int, c_int,)),
    "heed_images_balance": (c_void_p, (c_void_p,)),
    "heed_images_get": (c_bool, (c_void_p, c_int, c_size_t, c_void_p, c_void_p, c_void_p,)),
    "heed_image_batch": (c_bool, (c_void_p, heed_batch_at, c_void_p,)),
    "heed_images_set_eval_part": (None, (c_void_p, c_int,)),
    "heed_images_augment": (None, (c_void_p, c_void_p,)),
    "heed_images_eval_batches": (c_uint64, (c_void_p, c_int,)),
    "heed_images_epoch_batches": (c_uint64, (c_void_p, c_int,)),
    "heed_images_waited": (c_double, (c_void_p,)),
    "heed_pairs_open": (c_void_p, (c_void_p, c_char_p, c_void_p,)),
    "heed_pairs_close": (None, (c_void_p,)),
    "heed_pairs_text": (c_bool, (c_void_p, c_int, c_void_p,)),
    "heed_pairs_encode": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_pairs_about": (c_void_p, (c_void_p,)),
    "heed_pairs_count": (c_size_t, (c_void_p, c_int,)),
    "heed_pairs_balance": (c_void_p, (c_void_p,)),
    "heed_pairs_get": (c_bool, (c_void_p, c_bool, c_size_t, c_void_p,)),
    "heed_pair_batch": (c_bool, (c_void_p, heed_batch_at, c_void_p,)),
    "heed_pairs_eval_batches": (c_uint64, (c_void_p, c_int,)),
    "heed_pairs_epoch_batches": (c_uint64, (c_void_p, c_int,)),
    "heed_bleu_read": (None, (c_void_p, c_char_p, c_size_t,)),
    "heed_bleu_add": (c_bool, (c_void_p, c_void_p, c_char_p, c_char_p,)),
    "heed_bleu_add_best": (c_bool, (c_void_p, c_void_p, c_char_p, c_void_p, c_size_t,)),
    "heed_bleu_of": (c_double, (c_void_p,)),
    "heed_captions_open": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_captions_close": (None, (c_void_p,)),
    "heed_captions_about": (c_void_p, (c_void_p,)),
    "heed_captions_images": (c_void_p, (c_void_p,)),
    "heed_captions_pairs": (c_void_p, (c_void_p,)),
    "heed_captions_get": (c_bool, (c_void_p, c_bool, c_size_t, c_void_p, c_void_p,)),
    "heed_captions_text": (c_char_p, (c_void_p, c_bool, c_size_t, c_size_t, c_void_p,)),
    "heed_caption_batch": (c_bool, (c_void_p, heed_batch_at, c_void_p,)),
    "heed_captions_eval_batches": (c_uint64, (c_void_p, c_int,)),
    "heed_captions_epoch_batches": (c_uint64, (c_void_p, c_int,)),
    "heed_data_kind_of": (c_void_p, (heed_input_spec,)),
    "heed_data_open": (c_void_p, (c_void_p, c_void_p, heed_input_spec, c_void_p,)),
    "heed_data_close": (None, (c_void_p,)),
    "heed_data_count": (c_size_t, (c_void_p, c_int,)),
    "heed_part_name": (c_char_p, (c_int,)),
    "heed_image_transform_of": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_augment_of": (heed_augment, (c_void_p,)),
    "heed_example_text": (c_bool, (c_void_p, c_char_p, c_size_t, c_void_p,)),
    "heed_example_target": (c_bool, (c_void_p, c_char_p, c_size_t, c_void_p,)),
    "heed_example_made": (c_bool, (c_void_p, c_void_p, c_size_t, c_bool, c_void_p,)),
    "heed_example_tokens": (c_bool, (c_void_p, c_void_p, c_size_t, c_void_p,)),
    "heed_example_picture": (c_bool, (c_void_p, c_void_p, c_char_p, c_void_p,)),
    "heed_example_free": (None, (c_void_p,)),
    "heed_check_text": (c_bool, (c_void_p, c_char_p, c_size_t,)),
    "heed_tape_new": (c_void_p, (c_void_p,)),
    "heed_tape_free": (None, (c_void_p,)),
    "heed_tape_ctx": (c_void_p, (c_void_p,)),
    "heed_tape_begin": (None, (c_void_p, c_int, c_uint64,)),
    "heed_tape_begin_micro": (None, (c_void_p, c_int, c_uint64, c_uint32,)),
    "heed_tape_mode": (c_int, (c_void_p,)),
    "heed_at": (c_void_p, (c_void_p, c_char_p,)),
    "heed_input": (c_void_p, (c_void_p, c_void_p, c_int, c_void_p,)),
    "heed_input_ids": (c_void_p, (c_void_p, c_void_p, c_int, c_void_p,)),
    "heed_ids": (c_void_p, (c_void_p, c_void_p, c_int, c_int,)),
    "heed_new_ids": (c_void_p, (c_void_p, c_int, c_void_p,)),
    "heed_wrap": (c_void_p, (c_void_p, c_void_p, c_int, c_void_p,)),
    "heed_want_grad": (c_void_p, (c_void_p, c_void_p,)),
    "heed_backward": (c_bool, (c_void_p, c_void_p,)),
    "heed_backward_from": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_probe": (None, (c_void_p, c_char_p, c_bool,)),
    "heed_unprobe": (None, (c_void_p,)),
    "heed_is_probing": (c_bool, (c_void_p,)),
    "heed_is_probed": (c_bool, (c_void_p, c_char_p, c_char_p,)),
    "heed_probe_count": (c_int, (c_void_p,)),
    "heed_probe_at": (c_void_p, (c_void_p, c_int, c_void_p,)),
    "heed_probe_find": (c_void_p, (c_void_p, c_char_p,)),
    "heed_tape_used": (heed_tape_usage, (c_void_p,)),
    "heed_recorded_at": (heed_recorded, (c_void_p, c_int,)),
    "heed_recorded_by": (heed_recorded, (c_void_p,)),
    "heed_push": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_push_list": (c_void_p, (c_void_p, c_void_p, c_void_p, c_int, c_void_p,)),
    "heed_out": (c_bool, (c_void_p, c_int, c_void_p,)),
    "heed_out_like": (c_bool, (c_void_p, c_int,)),
    "heed_out_view": (c_bool, (c_void_p, c_int, c_size_t, c_int, c_void_p,)),
    "heed_wrong": (c_bool, (c_void_p, c_char_p,)),
    "heed_grad": (c_void_p, (c_void_p, c_int,)),
    "heed_grad_into": (c_void_p, (c_void_p, c_int, c_void_p,)),
    "heed_keep": (c_void_p, (c_void_p, c_char_p, c_int, c_void_p,)),
    "heed_probed": (c_bool, (c_void_p, c_char_p,)),
    "heed_scratch": (c_void_p, (c_void_p, c_size_t,)),
    "heed_scratch_done": (None, (c_void_p, c_void_p, c_size_t,)),
    "heed_take_name": (c_char_p, (c_void_p,)),
    "heed_node_random": (heed_random, (c_void_p,)),
    "heed_view_backward": (None, (c_void_p,)),
    "heed_update_state": (None, (c_void_p, c_int, c_double, c_double, c_void_p,)),
    "heed_op_table": (c_void_p, ()),
    "heed_gradcheck": (heed_check, (c_void_p, c_void_p,)),
    "heed_gradcheck_store": (heed_check, (c_void_p, c_void_p, CFUNCTYPE(c_void_p, c_void_p, c_void_p), c_void_p, c_int,)),
    "heed_add": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_sub": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_mul": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_div": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_where": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_scale": (c_void_p, (c_void_p, c_void_p, c_float, c_float,)),
    "heed_activate": (c_void_p, (c_void_p, c_void_p, c_int,)),
    "heed_identity": (c_void_p, (c_void_p, c_void_p,)),
    "heed_exp": (c_void_p, (c_void_p, c_void_p,)),
    "heed_log": (c_void_p, (c_void_p, c_void_p,)),
    "heed_sqrt": (c_void_p, (c_void_p, c_void_p,)),
    "heed_tanh": (c_void_p, (c_void_p, c_void_p,)),
    "heed_sigmoid": (c_void_p, (c_void_p, c_void_p,)),
    "heed_relu": (c_void_p, (c_void_p, c_void_p,)),
    "heed_gelu": (c_void_p, (c_void_p, c_void_p,)),
    "heed_gelu_tanh": (c_void_p, (c_void_p, c_void_p,)),
    "heed_silu": (c_void_p, (c_void_p, c_void_p,)),
    "heed_clamp": (c_void_p, (c_void_p, c_void_p, c_float, c_float,)),
    "heed_stop_gradient": (c_void_p, (c_void_p, c_void_p,)),
    "heed_matmul": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_matmul_nt": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_matmul_tn": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_affine": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_affine_act": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_int,)),
    "heed_lora": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_int, c_float,)),
    "heed_softmax": (c_void_p, (c_void_p, c_void_p, c_float, c_void_p,)),
    "heed_log_softmax": (c_void_p, (c_void_p, c_void_p, c_float, c_void_p,)),
    "heed_hardmax": (c_void_p, (c_void_p, c_void_p, c_float, c_void_p,)),
    "heed_layer_norm": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_float,)),
    "heed_rms_norm": (c_void_p, (c_void_p, c_void_p, c_void_p, c_float,)),
    "heed_batch_norm": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_float, c_float,)),
    "heed_dropout": (c_void_p, (c_void_p, c_void_p, c_float,)),
    "heed_dropout_add": (c_void_p, (c_void_p, c_void_p, c_void_p, c_float,)),
    "heed_conv2d": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_conv2d_transposed": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_conv1d": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_conv1d_transposed": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_max_pool": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_avg_pool": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_global_pool": (c_void_p, (c_void_p, c_void_p,)),
    "heed_embed": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_gather": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_sum": (c_void_p, (c_void_p, c_void_p,)),
    "heed_mean": (c_void_p, (c_void_p, c_void_p,)),
    "heed_sum_dim": (c_void_p, (c_void_p, c_void_p, c_int,)),
    "heed_mean_dim": (c_void_p, (c_void_p, c_void_p, c_int,)),
    "heed_max_dim": (c_void_p, (c_void_p, c_void_p, c_int,)),
    "heed_reshape": (c_void_p, (c_void_p, c_void_p, c_int, c_void_p,)),
    "heed_permute": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_concat": (c_void_p, (c_void_p, c_int, c_int, c_void_p,)),
    "heed_slice": (c_void_p, (c_void_p, c_void_p, c_int, c_int, c_int,)),
    "heed_split": (c_bool, (c_void_p, c_void_p, c_int, c_int, c_void_p,)),
    "heed_pad": (c_void_p, (c_void_p, c_void_p, c_int, c_int, c_int, c_float,)),
    "heed_note": (c_void_p, (c_void_p, c_void_p, c_char_p,)),
    "heed_xent": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_affine_xent": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_bce": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_mse": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_recurrent": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_recurrent_attention": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_rotary": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_attention": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_cross_attention": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_self_attention": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_attention_explicit": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_linear_init": (None, (c_void_p, c_void_p, c_char_p, heed_linear_args,)),
    "heed_linear_apply": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_linear_act": (c_void_p, (c_void_p, c_void_p, c_void_p, c_int,)),
    "heed_norm_init": (None, (c_void_p, c_void_p, c_char_p, heed_norm_args,)),
    "heed_norm_apply": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_batchnorm_init": (None, (c_void_p, c_void_p, c_char_p, c_int,)),
    "heed_batchnorm_apply": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_drop_init": (None, (c_void_p, c_void_p, c_char_p, c_float,)),
    "heed_drop_apply": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_conv_init": (None, (c_void_p, c_void_p, c_char_p, heed_conv_layer_args,)),
    "heed_conv_apply": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_conv_block_init": (None, (c_void_p, c_void_p, c_char_p, heed_conv_block_args,)),
    "heed_conv_block_apply": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_patch_embed_init": (None, (c_void_p, c_void_p, c_char_p, c_int, c_int, c_int, c_char_p,)),
    "heed_patch_embed_apply": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_position_init": (None, (c_void_p, c_void_p, c_char_p, c_int, c_int, c_int,)),
    "heed_position_apply": (c_void_p, (c_void_p, c_void_p, c_void_p, c_int,)),
    "heed_mha_init": (None, (c_void_p, c_void_p, c_char_p, heed_mha_args,)),
    "heed_mha_rows": (heed_rows, (c_void_p, c_int, c_int,)),
    "heed_mha_apply": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_mha_biased": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_mha_rows_apply": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_ff_init": (None, (c_void_p, c_void_p, c_char_p, heed_ff_args,)),
    "heed_ff_apply": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_block_init": (None, (c_void_p, c_void_p, c_char_p, heed_block_args,)),
    "heed_block_apply": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_block_rows_apply": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_decoder_block_init": (None, (c_void_p, c_void_p, c_char_p, heed_block_args,)),
    "heed_decoder_block_apply": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_recompute": (c_void_p, (c_void_p, CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p), c_void_p, c_void_p,)),
    "heed_rnn_init": (None, (c_void_p, c_void_p, c_char_p, heed_rnn_args,)),
    "heed_rnn_apply": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_attend_init": (None, (c_void_p, c_void_p, c_char_p, heed_attend_args,)),
    "heed_attend_kv": (heed_attention_kv, (c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_attend_apply": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_attend_look": (heed_attended, (c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_attend_note": (None, (c_void_p, c_void_p, c_int, c_void_p,)),
    "heed_residual": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_lora_add": (c_int, (c_void_p, c_char_p, c_int, c_float,)),
    "heed_lora_merge": (c_bool, (c_void_p,)),
    "heed_gradcheck_layer": (heed_check, (c_void_p, c_void_p,)),
    "heed_layer_table": (c_void_p, ()),
    "heed_choose": (c_bool, (c_void_p, c_char_p, c_char_p,)),
    "heed_model_spec": (heed_input_spec, (c_void_p,)),
    "heed_model_check": (c_bool, (c_void_p, c_void_p,)),
    "heed_model_choose": (c_bool, (c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_model_init": (c_bool, (c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_model_batch": (c_bool, (c_void_p, c_void_p, c_void_p, heed_batch_at, c_void_p,)),
    "heed_model_eval_batches": (c_uint64, (c_void_p, c_void_p, c_void_p, c_int,)),
    "heed_model_epoch_batches": (c_uint64, (c_void_p, c_void_p, c_void_p, c_int,)),
    "heed_model_config": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_preset_apply": (c_bool, (c_void_p, c_void_p, c_void_p, c_char_p,)),
    "heed_generate": (c_bool, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_text_end": (c_int32, (c_void_p, c_void_p,)),
    "heed_text_start": (c_int32, (c_void_p, c_void_p,)),
    "heed_never": (c_int, (c_void_p, c_int32, c_void_p,)),
    "heed_optim_defaults": (heed_optim_args, (c_void_p,)),
    "heed_optim_new": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_optim_free": (None, (c_void_p,)),
    "heed_step": (c_bool, (c_void_p, c_float,)),
    "heed_optim_slots": (c_void_p, (c_void_p,)),
    "heed_optimizer_table": (c_void_p, ()),
    "heed_optimizer_named": (c_void_p, (c_char_p,)),
    "heed_optim_check": (heed_check, (c_void_p, c_void_p,)),
    "heed_grad_norm": (c_double, (c_void_p,)),
    "heed_clip": (c_double, (c_void_p, c_float, c_float,)),
    "heed_schedule_at": (c_float, (c_void_p, c_int64,)),
    "heed_memory_of": (heed_memory, (c_void_p, c_void_p, c_void_p, c_size_t,)),
    "heed_memory_resident": (c_size_t, ()),
    "heed_cluster_agree": (c_bool, (c_void_p, c_void_p,)),
    "heed_fit": (heed_fit_result, (c_void_p, c_void_p,)),
    "heed_train": (heed_fit_result, (c_void_p, c_void_p,)),
    "heed_train_config": (c_void_p, (c_void_p, c_void_p,)),
    "heed_run_settings": (c_bool, (c_void_p, c_char_p, c_void_p,)),
    "heed_run_check": (c_bool, (c_void_p, c_char_p, c_void_p,)),
    "heed_run_vacant": (c_bool, (c_void_p, c_char_p, c_bool,)),
    "heed_run_recover": (c_bool, (c_void_p, c_char_p,)),
    "heed_run_resumable": (c_bool, (c_void_p, c_char_p,)),
    "heed_run_owns": (c_bool, (c_void_p, c_char_p, c_char_p,)),
    "heed_run_outside": (c_bool, (c_void_p, c_char_p, c_char_p,)),
    "heed_run_open": (c_void_p, (c_void_p, c_char_p, c_void_p, c_char_p,)),
    "heed_run_close": (None, (c_void_p,)),
    "heed_run_adapt": (c_void_p, (c_void_p, c_char_p, c_void_p,)),
    "heed_run_new": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_int,)),
    "heed_run_save": (c_bool, (c_void_p, c_char_p, c_bool,)),
    "heed_run_reader": (heed_reader, (c_void_p,)),
    "heed_start_take": (c_bool, (c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_start_free": (None, (c_void_p,)),
    "heed_start_settings": (c_bool, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_start_open": (c_void_p, (c_void_p, c_char_p, c_void_p, c_char_p,)),
    "heed_evaluate": (heed_score, (c_void_p, c_void_p, c_void_p, c_void_p, c_int,)),
    "heed_evaluate_batch": (c_bool, (c_void_p, c_void_p, c_void_p, c_void_p, heed_batch_at, c_void_p, c_void_p,)),
    "heed_import": (c_void_p, (c_void_p, c_char_p, c_void_p,)),
    "heed_export": (c_bool, (c_void_p, c_char_p, c_bool,)),
    "heed_export_onnx": (c_bool, (c_void_p, c_char_p, c_bool,)),
    "heed_import_is_headless": (c_bool, (c_void_p,)),
    "heed_text_vector": (c_void_p, (c_void_p, c_char_p, c_size_t,)),
    "heed_graph_read": (c_bool, (c_void_p, c_void_p,)),
    "heed_graph_free": (None, (c_void_p,)),
    "heed_graph_inside": (c_bool, (c_void_p, c_int, c_int,)),
    "heed_graph_svg": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_profile_new": (c_void_p, (c_void_p,)),
    "heed_profile_free": (None, (c_void_p,)),
    "heed_profile_reset": (None, (c_void_p,)),
    "heed_profile_steps": (c_uint64, (c_void_p,)),
    "heed_profile_seconds": (c_double, (c_void_p, c_int,)),
    "heed_profile_rows": (c_int, (c_void_p, c_void_p,)),
    "heed_peak_flops": (c_double, (c_void_p, c_double,)),
    "heed_lesson_name": (c_char_p, (c_int,)),
    "heed_lesson_make": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_lesson_compute": (None, (c_void_p,)),
    "heed_lesson_free": (None, (c_void_p,)),
    "heed_lesson_backward": (c_bool, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_lesson_backward_layer": (c_bool, (c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_lesson_gradient_free": (None, (c_void_p,)),
    "heed_lesson_ties": (c_int, (c_void_p, c_int, c_void_p,)),
    "heed_matrix_at": (c_double, (c_void_p, c_int, c_int,)),
    "heed_matrix_product": (None, (c_void_p, c_void_p, heed_matmul_how, c_void_p,)),
    "heed_matrix_softmax": (None, (c_void_p, c_bool, c_void_p,)),
    "heed_row_normed": (c_double, (c_void_p, c_int, c_double, c_void_p,)),
    "heed_stack_name": (c_char_p, (c_int,)),
    "heed_record_new": (c_void_p, (c_void_p,)),
    "heed_record_free": (None, (c_void_p,)),
    "heed_record_add_axis": (c_int, (c_void_p, c_void_p,)),
    "heed_record_add_block": (c_int, (c_void_p, c_void_p,)),
    "heed_record_add_map": (c_int, (c_void_p, c_void_p,)),
    "heed_record_add_guess": (c_int, (c_void_p, c_void_p,)),
    "heed_record_describe": (c_bool, (c_void_p, heed_record_texts,)),
    "heed_record_picture": (c_bool, (c_void_p, c_void_p, c_int, c_int, c_int,)),
    "heed_record_probe": (None, (c_void_p, c_char_p, c_bool,)),
    "heed_record_take": (c_int, (c_void_p, c_void_p, c_void_p, c_int, c_void_p,)),
    "heed_record_subset": (c_void_p, (c_void_p, c_void_p, c_void_p,)),
    "heed_record_cut_text": (None, (c_void_p, c_void_p,)),
    "heed_record_bytes": (c_double, (c_void_p,)),
    "heed_record_json": (c_bool, (c_void_p, c_bool, c_void_p,)),
    "heed_record_csv": (c_bool, (c_void_p, c_void_p, c_char_p,)),
    "heed_record_npz": (c_bool, (c_void_p, c_void_p, c_char_p,)),
    "heed_record_read": (c_void_p, (c_void_p, c_char_p,)),
    "heed_record_read_line": (c_void_p, (c_void_p, c_char_p, c_int,)),
    "heed_inspection_open": (c_bool, (c_void_p, c_void_p, c_void_p, c_char_p,)),
    "heed_inspection_text": (c_bool, (c_void_p, c_void_p, c_char_p, c_size_t, c_char_p,)),
    "heed_inspection_tokens": (c_bool, (c_void_p, c_void_p, c_void_p, c_int,)),
    "heed_inspection_picture": (c_bool, (c_void_p, c_void_p, c_void_p, c_char_p,)),
    "heed_inspection_caption": (c_bool, (c_void_p, c_void_p, c_void_p, c_char_p, c_char_p,)),
    "heed_inspection_numbers": (c_bool, (c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_char_p,)),
    "heed_inspection_free": (None, (c_void_p,)),
    "heed_inspection_logits": (c_void_p, (c_void_p, c_void_p,)),
    "heed_inspection_guesses": (c_int, (c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_void_p,)),
    "heed_inspection_class": (c_int, (c_void_p, c_void_p, c_void_p,)),
    "heed_class_label": (c_char_p, (c_void_p, c_int, c_void_p,)),
    "heed_attention_layers": (c_void_p, (c_void_p, c_void_p,)),
    "heed_capture": (c_void_p, (c_void_p, c_void_p,)),
    "heed_lesson_of_head": (c_bool, (c_void_p, c_void_p, c_int, c_void_p, c_void_p,)),
    "heed_rollout": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_rollout_add": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_occlusion_add": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_hide_patches": (None, (c_void_p, c_void_p, c_void_p, c_int,)),
    "heed_gradient_add": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_influence": (c_void_p, (c_void_p, c_void_p,)),
    "heed_evaluation_batch": (c_bool, (c_void_p, c_uint64, c_void_p, c_void_p,)),
    "heed_run_has_data": (c_bool, (c_void_p, c_void_p, c_char_p, c_void_p, c_char_p, c_char_p,)),
    "heed_run_data": (c_void_p, (c_void_p, c_void_p, c_char_p, c_void_p,)),
    "heed_estimate_mean": (heed_estimate, (c_void_p, c_int,)),
    "heed_head_measure_name": (c_char_p, (c_int,)),
    "heed_head_measure_help": (c_char_p, (c_int,)),
    "heed_head_mean": (c_double, (c_void_p, c_int,)),
    "heed_heads": (c_bool, (c_void_p, c_void_p,)),
    "heed_heads_free": (None, (c_void_p,)),
    "heed_heads_have": (c_bool, (c_void_p, c_int,)),
    "heed_head_off": (c_bool, (c_void_p, c_void_p, c_int, c_void_p,)),
    "heed_head_on": (None, (c_void_p,)),
    "heed_ablate": (c_bool, (c_void_p, c_void_p,)),
    "heed_ablation_free": (None, (c_void_p,)),
    "heed_patch_measure_name": (c_char_p, (c_int,)),
    "heed_ablate_patches": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_prediction_of": (heed_prediction, (c_void_p, c_int, c_int,)),
    "heed_confusion": (c_void_p, (c_void_p, c_void_p, c_size_t, c_int,)),
    "heed_confusion_class": (heed_class_score, (c_void_p, c_int, c_int,)),
    "heed_snapshots_open": (c_void_p, (c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_snapshots_close": (None, (c_void_p,)),
    "heed_snapshots_report": (None, (c_void_p, c_void_p,)),
    "heed_snapshots_list": (c_bool, (c_void_p, c_char_p, c_int, CFUNCTYPE(c_bool, c_void_p, c_char_p, c_int64), c_void_p,)),
    "heed_cross_layer": (c_bool, (c_void_p, c_int, c_void_p,)),
    "heed_alignment": (c_void_p, (c_void_p, c_int,)),
    "heed_alignment_diagonal": (None, (c_void_p, c_int, c_bool, c_void_p,)),
    "heed_alignment_fields": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_alignment_peaks_open": (c_bool, (c_void_p, c_void_p,)),
    "heed_alignment_peaks_free": (None, (c_void_p,)),
    "heed_alignment_peaks_add": (c_bool, (c_void_p, c_void_p, c_void_p,)),
    "heed_label_entropy": (c_double, (c_void_p, c_void_p, c_void_p, c_int,)),
    "heed_reconstruct": (c_bool, (c_void_p, c_void_p, c_void_p, c_int, c_void_p,)),
    "heed_reconstruct_at": (c_bool, (c_void_p, c_void_p, c_uint64, c_void_p,)),
    "heed_reconstruction_free": (None, (c_void_p,)),
    "heed_moments_open": (c_bool, (c_void_p, c_void_p, c_int,)),
    "heed_moments_add": (c_bool, (c_void_p, c_void_p, c_void_p, c_int,)),
    "heed_moments_end": (c_bool, (c_void_p,)),
    "heed_moments_free": (None, (c_void_p,)),
    "heed_principal": (c_bool, (c_void_p, c_int, c_void_p, c_void_p,)),
    "heed_principal_error": (c_double, (c_void_p, c_void_p, c_int, c_void_p,)),
    "heed_linear_predict": (c_bool, (c_void_p, c_void_p, c_double, c_void_p, c_void_p,)),
    "heed_best_linear_error": (c_bool, (c_void_p, c_void_p,)),
    "heed_codes_read": (c_bool, (c_void_p, c_void_p, c_int, c_int, c_void_p,)),
    "heed_codes_free": (None, (c_void_p,)),
    "heed_codes_plane": (c_bool, (c_void_p, c_void_p, c_void_p, c_void_p,)),
    "heed_evenness": (c_double, (c_void_p, c_int,)),
    "heed_nearly_uniform": (c_bool, (c_void_p, c_int,)),
    "heed_record_focus": (c_bool, (c_void_p, c_int, c_int, c_int, c_void_p,)),
    "heed_records_focus": (c_bool, (c_void_p, c_void_p, c_int, c_int, c_int, c_void_p,)),
    "heed_record_uniform": (c_double, (c_void_p, c_void_p, c_int,)),
    "heed_record_scale": (c_double, (c_void_p, c_void_p,)),
    "heed_map_least": (c_double, (c_char_p,)),
    "heed_heatmap_text": (c_bool, (c_void_p, c_void_p,)),
    "heed_chart_text": (c_bool, (c_void_p, c_int, c_int, c_bool, c_void_p,)),
    "heed_chart_png": (c_bool, (c_void_p, c_void_p, c_int, c_int, c_char_p,)),
    "heed_charts_png": (c_bool, (c_void_p, c_void_p, c_int, c_int, c_int, c_char_p,)),
    "heed_charts_svg": (c_bool, (c_void_p, c_void_p, c_int, c_int, c_int, c_char_p,)),
    "heed_scatter_png": (c_bool, (c_void_p, c_void_p, c_int, c_int, c_char_p,)),
    "heed_sheet_png": (c_bool, (c_void_p, c_void_p, c_char_p,)),
    "heed_heatmap_png": (c_bool, (c_void_p, c_void_p, c_char_p,)),
    "heed_heatmaps_png": (c_bool, (c_void_p, c_void_p, c_int, c_char_p,)),
    "heed_heatmaps_svg": (c_bool, (c_void_p, c_void_p, c_int, c_char_p,)),
    "heed_panels_png": (c_bool, (c_void_p, c_void_p, c_char_p,)),
    "heed_panels_svg": (c_bool, (c_void_p, c_void_p, c_char_p,)),
    "heed_overlay_png": (c_bool, (c_void_p, c_void_p, c_char_p,)),
    "heed_overlay_svg": (c_bool, (c_void_p, c_void_p, c_char_p,)),
    "heed_overlay_text": (c_bool, (c_void_p, c_int, c_int, c_void_p,)),
    "heed_page_size": (c_double, (c_void_p,)),
    "heed_page_write": (c_bool, (c_void_p, c_void_p, c_char_p,)),
}

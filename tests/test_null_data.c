/* test_null_data.c -- NULL in place of an object, a path or an array: functions of io, data, fit,
 * record, inspect, view and text answer and never crash. */
#include "everything.h"

#include <heed/graph.h>
#include <heed/inspect.h>
#include <heed/lesson.h>
#include <heed/view.h>

static double doubles[64];
static int32_t ids[64];
static char text[HEED_WHY];
static const heed_model model;

TEST(null_is_accepted_in_text) {
    everything l = open_everything();
    CALL(heed_text_add(NULL, NULL));
    CALL(heed_text_put(NULL, NULL, 1));
    CALL(heed_text_free(NULL));
    CALL(heed_text_save(NULL, NULL));
    CALL(heed_text_edits(NULL, 1, NULL, 1));
    CALL(heed_text_edits(NULL, 1, "a", 1));
    CALL(heed_text_edits("a", 1, NULL, 1));
    CALL(heed_label_text(NULL, 1, NULL));
    CALL(heed_label_text(NULL, 1, &l.text));
    CALL(heed_label_text("a", 1, NULL));
    CALL(heed_label_words(NULL, 1, 1, NULL));
    CALL(heed_label_words(NULL, 1, 1, &l.text));
    CALL(heed_label_words("a", 1, 1, NULL));
    close_everything(&l);
}

TEST(null_is_accepted_in_io) {
    everything l = open_everything();
    CALL(heed_save(NULL, NULL));
    CALL(heed_save_meta(NULL, NULL, NULL));
    CALL(heed_load(NULL, NULL));
    CALL(heed_load_bytes(NULL, NULL, 1));
    CALL(heed_safetensors_open(NULL, NULL));
    CALL(heed_safetensors_close(NULL));
    CALL(heed_safetensors_count(NULL));
    CALL(heed_safetensors_at(NULL, 1));
    CALL(heed_safetensors_find(NULL, NULL));
    CALL(heed_safetensors_meta(NULL, NULL));
    CALL(heed_config_new(NULL, NULL));
    CALL(heed_config_free(NULL));
    CALL(heed_config_set(NULL, NULL, NULL, NULL, 0));
    CALL(heed_config_set_list(NULL, NULL, NULL, 0));
    CALL(heed_config_read(NULL, NULL, 0));
    CALL(heed_config_args(NULL, NULL, NULL));
    CALL(heed_config_int(NULL, NULL));
    CALL(heed_config_real(NULL, NULL));
    CALL(heed_config_bool(NULL, NULL));
    CALL(heed_config_text(NULL, NULL));
    CALL(heed_config_default(NULL, NULL));
    CALL(heed_config_rank(NULL, NULL));
    CALL(heed_config_has(NULL, NULL));
    CALL(heed_config_count(NULL));
    CALL(heed_config_at(NULL, 1, NULL));
    CALL(heed_config_group(NULL, 1));
    CALL(heed_config_write(NULL, NULL, false));
    CALL(heed_config_help(NULL, NULL, 1));
    CALL(heed_npy_save(NULL, NULL, NULL));
    CALL(heed_npz_save(NULL, NULL, 1, NULL, NULL));
    CALL(heed_png_save(NULL, NULL, NULL, 1, 1));
    close_everything(&l);
}

TEST(null_is_accepted_in_data) {
    everything l = open_everything();
    CALL(heed_tokenizer_train(NULL, NULL, 1, (heed_tokenizer_args){0}));
    CALL(heed_tokenizer_open(NULL, NULL));
    CALL(heed_tokenizer_save(NULL, NULL));
    CALL(heed_tokenizer_free(NULL));
    CALL(heed_tokenizer_kind(NULL));
    CALL(heed_tokenizer_digest(NULL));
    CALL(heed_vocab_size(NULL));
    CALL(heed_tokenizer_specials(NULL));
    CALL(heed_token_id(NULL, NULL));
    CALL(heed_token_text(NULL, 1));
    CALL(heed_encode(NULL, NULL, 1, NULL));
    CALL(heed_encode(NULL, "a", 1, &l.tokens));
    CALL(heed_encode(l.k, NULL, 1, &l.tokens));
    CALL(heed_encode(l.k, "a", 1, NULL));
    CALL(heed_decode(NULL, NULL, 1, NULL));
    CALL(heed_decode(NULL, ids, 1, &l.text));
    CALL(heed_decode(l.k, NULL, 1, &l.text));
    CALL(heed_decode(l.k, ids, 1, NULL));
    CALL(heed_tokens_free(NULL));
    CALL(heed_text_read(NULL, NULL, NULL));
    CALL(heed_text_read(NULL, "a", (size_t *)doubles));
    CALL(heed_text_read(l.c, NULL, (size_t *)doubles));
    CALL(heed_text_read(l.c, "a", NULL));
    CALL(heed_text_survey(NULL, NULL, NULL));
    CALL(heed_text_survey(l.c, NULL, (heed_text_facts *)doubles));
    CALL(heed_text_survey(l.c, "a", NULL));
    CALL(heed_corpus_open(NULL, NULL, NULL, (heed_corpus_args){0}));
    CALL(heed_corpus_free(NULL));
    CALL(heed_corpus_about(NULL));
    CALL(heed_corpus_keep(NULL, "a"));
    CALL(heed_corpus_keep(l.corpus, NULL));
    CALL(heed_gpt_batch(NULL, (heed_batch_at){0}, NULL));
    CALL(heed_mlm_batch(NULL, (heed_batch_at){0}, 1, NULL));
    CALL(heed_corpus_eval_batches(NULL, 1));
    CALL(heed_corpus_epoch_batches(NULL, 1));
    close_everything(&l);
}

TEST(null_is_accepted_in_captions) {
    everything l = open_everything();
    CALL(heed_captions_open(NULL, NULL, NULL));
    CALL(heed_captions_open(l.c, NULL, NULL));
    CALL(heed_captions_close(NULL));
    CALL(heed_captions_about(NULL));
    CALL(heed_captions_images(NULL));
    CALL(heed_captions_pairs(NULL));
    CALL(heed_captions_get(NULL, false, 1, NULL, NULL));
    CALL(heed_captions_text(NULL, false, 1, 1, NULL));
    CALL(heed_caption_batch(NULL, (heed_batch_at){.rows = 1}, NULL));
    CALL(heed_captions_eval_batches(NULL, 1));
    CALL(heed_captions_epoch_batches(NULL, 1));
    CALL(heed_bleu_add_best(NULL, NULL, NULL, NULL, 1));
    CALL(heed_bleu_add_best(l.c, &(heed_bleu){0}, "a", (const char *[]){NULL}, 1));
    close_everything(&l);
}

TEST(null_is_accepted_in_pairs) {
    everything l = open_everything();
    CALL(heed_pairs_open(NULL, NULL, NULL));
    CALL(heed_pairs_close(NULL));
    CALL(heed_pairs_text(NULL, 1, NULL));
    CALL(heed_pairs_encode(NULL, NULL, NULL));
    CALL(heed_pairs_about(NULL));
    CALL(heed_pairs_get(NULL, false, 1, NULL));
    CALL(heed_pair_batch(NULL, (heed_batch_at){0}, NULL));
    CALL(heed_pairs_eval_batches(NULL, 1));
    CALL(heed_pairs_epoch_batches(NULL, 1));
    CALL(heed_bleu_add(NULL, NULL, NULL, NULL));
    CALL(heed_bleu_of(NULL));
    close_everything(&l);
}

TEST(null_is_accepted_in_image) {
    everything l = open_everything();
    CALL(heed_picture_decode(NULL, 1, NULL, NULL));
    CALL(heed_picture_decode(NULL, 1, zero, text));
    CALL(heed_picture_decode(NULL, 1, NULL, text));
    CALL(heed_picture_decode(NULL, 1, zero, NULL));
    CALL(heed_picture_read(NULL, NULL, NULL));
    CALL(heed_picture_read(NULL, zero, text));
    CALL(heed_picture_read("a", NULL, text));
    CALL(heed_picture_read("a", zero, NULL));
    CALL(heed_picture_free(NULL));
    CALL(heed_picture_convert(NULL, 1));
    CALL(heed_resize_work(NULL, 1, 1));
    CALL(heed_picture_resize(NULL, (heed_box){0}, 1, 1, NULL, NULL));
    CALL(heed_image_transform_work(NULL, NULL));
    CALL(heed_picture_transform(NULL, NULL, NULL, NULL, NULL, NULL));
    CALL(heed_images_open(NULL, NULL, NULL));
    CALL(heed_images_close(NULL));
    CALL(heed_images_about(NULL));
    CALL(heed_images_bad(NULL, 1, NULL, NULL));
    CALL(heed_images_duplicate(NULL, NULL));
    CALL(heed_images_count(NULL, 0, 1));
    CALL(heed_images_get(NULL, 0, 1, NULL, NULL, NULL));
    CALL(heed_image_batch(NULL, (heed_batch_at){0}, NULL));
    CALL(heed_images_set_eval_part(NULL, 0));
    CALL(heed_images_augment(NULL, NULL));
    CALL(heed_images_eval_batches(NULL, 1));
    CALL(heed_images_epoch_batches(NULL, 1));
    CALL(heed_images_waited(NULL));
    close_everything(&l);
}

TEST(null_is_accepted_in_model) {
    everything l = open_everything();
    CALL(heed_model_batch(NULL, NULL, NULL, (heed_batch_at){0}, NULL));
    CALL(heed_model_batch(NULL, NULL, NULL, (heed_batch_at){0}, zero));
    CALL(heed_model_batch(&model, NULL, NULL, (heed_batch_at){0}, NULL));
    CALL(heed_model_eval_batches(NULL, NULL, NULL, 1));
    CALL(heed_model_epoch_batches(NULL, NULL, NULL, 1));
    CALL(heed_model_config(NULL, NULL, NULL));
    CALL(heed_preset_apply(NULL, NULL, NULL, NULL));
    close_everything(&l);
}

TEST(null_is_accepted_in_fit) {
    everything l = open_everything();
    CALL(heed_train(NULL, NULL));
    CALL(heed_run_vacant(NULL, NULL, false));
    CALL(heed_run_recover(NULL, NULL));
    CALL(heed_run_resumable(NULL, NULL));
    CALL(heed_run_owns(NULL, NULL, NULL));
    CALL(heed_run_outside(NULL, NULL, NULL));
    CALL(heed_run_open(NULL, NULL, NULL, NULL));
    CALL(heed_run_close(NULL));
    CALL(heed_evaluate(NULL, NULL, NULL, NULL, 1));
    close_everything(&l);
}

TEST(null_is_accepted_in_record) {
    everything l = open_everything();
    CALL(heed_record_new(NULL));
    CALL(heed_record_free(NULL));
    CALL(heed_record_add_axis(NULL, NULL));
    CALL(heed_record_add_axis(NULL, zero));
    CALL(heed_record_add_axis(l.record, NULL));
    CALL(heed_record_add_block(NULL, NULL));
    CALL(heed_record_add_block(NULL, zero));
    CALL(heed_record_add_block(l.record, NULL));
    CALL(heed_record_add_map(NULL, NULL));
    CALL(heed_record_add_map(NULL, zero));
    CALL(heed_record_add_map(l.record, NULL));
    CALL(heed_record_add_guess(NULL, NULL));
    CALL(heed_record_add_guess(NULL, zero));
    CALL(heed_record_add_guess(l.record, NULL));
    CHECK(heed_record_add_guess(l.record, &(heed_record_guess){.count = 3}) < 0);
    CALL(heed_record_describe(NULL, (heed_record_texts){0}));
    CALL(heed_record_picture(NULL, NULL, 1, 1, 1));
    CALL(heed_record_probe(NULL, NULL, false));
    CALL(heed_record_take(NULL, NULL, NULL, 1, NULL));
    CALL(heed_record_take(NULL, l.t, zero, 1, ids));
    CALL(heed_record_take(l.record, NULL, zero, 1, ids));
    CALL(heed_record_take(l.record, l.t, NULL, 1, ids));
    CALL(heed_record_take(l.record, l.t, zero, 1, NULL));
    CALL(heed_record_subset(NULL, NULL, NULL));
    CALL(heed_record_subset(NULL, l.record, zero));
    CALL(heed_record_subset(l.c, NULL, zero));
    CALL(heed_record_subset(l.c, l.record, NULL));
    CALL(heed_record_words(NULL, l.record));
    CALL(heed_record_words(l.c, NULL));
    CALL(heed_record_cut_text(NULL, NULL));
    CALL(heed_record_cut_text(NULL, &l.text));
    CALL(heed_record_cut_text(zero, NULL));
    CALL(heed_record_bytes(NULL));
    CALL(heed_record_json(NULL, false, NULL));
    CALL(heed_record_csv(NULL, NULL, NULL));
    CALL(heed_record_npz(NULL, NULL, NULL));
    CALL(heed_record_read(NULL, NULL));
    CALL(heed_record_read_line(NULL, NULL, 1));
    close_everything(&l);
}

TEST(null_is_accepted_in_inspect) {
    everything l = open_everything();
    CALL(heed_rollout(NULL, NULL, NULL));
    close_everything(&l);
}

TEST(null_is_accepted_in_lesson) {
    everything l = open_everything();
    CALL(heed_lesson_make(NULL, NULL, NULL));
    CALL(heed_lesson_make(NULL, zero, zero));
    CALL(heed_lesson_make(l.c, NULL, zero));
    CALL(heed_lesson_make(l.c, zero, NULL));
    CALL(heed_lesson_compute(NULL));
    CALL(heed_lesson_free(NULL));
    CALL(heed_lesson_backward(NULL, NULL, NULL, NULL, NULL));
    CALL(heed_lesson_backward(NULL, zero, doubles, doubles, zero));
    CALL(heed_lesson_backward(l.c, NULL, doubles, doubles, zero));
    CALL(heed_lesson_backward(l.c, zero, doubles, doubles, NULL));
    CALL(heed_lesson_backward_layer(NULL, NULL, NULL, NULL));
    CALL(heed_lesson_backward_layer(NULL, zero, doubles, zero));
    CALL(heed_lesson_backward_layer(l.c, NULL, doubles, zero));
    CALL(heed_lesson_backward_layer(l.c, zero, NULL, zero));
    CALL(heed_lesson_backward_layer(l.c, zero, doubles, NULL));
    CALL(heed_lesson_gradient_free(NULL));
    CALL(heed_lesson_ties(NULL, 1, NULL));
    CALL(heed_lesson_ties(NULL, 1, shape));
    CALL(heed_lesson_ties(zero, 1, NULL));
    CALL(heed_matrix_at(NULL, 1, 1));
    CALL(heed_matrix_product(NULL, NULL, (heed_matmul_how){0}, NULL));
    CALL(heed_matrix_product(NULL, zero, (heed_matmul_how){0}, zero));
    CALL(heed_matrix_product(zero, NULL, (heed_matmul_how){0}, zero));
    CALL(heed_matrix_product(zero, zero, (heed_matmul_how){0}, NULL));
    CALL(heed_matrix_softmax(NULL, false, NULL));
    CALL(heed_matrix_softmax(NULL, false, zero));
    CALL(heed_matrix_softmax(zero, false, NULL));
    CALL(heed_row_normed(NULL, 1, 1, NULL));
    CALL(heed_row_normed(NULL, 1, 1, doubles));
    CALL(heed_row_normed(doubles, 1, 1, NULL));
    close_everything(&l);
}

TEST(null_is_accepted_in_graph) {
    everything l = open_everything();
    CALL(heed_graph_read(NULL, NULL));
    CALL(heed_graph_read(NULL, zero));
    CALL(heed_graph_read(l.t, NULL));
    CALL(heed_graph_free(NULL));
    CALL(heed_graph_inside(NULL, 1, 1));
    CALL(heed_graph_svg(NULL, NULL, NULL));
    close_everything(&l);
}

TEST(null_is_accepted_in_view) {
    everything l = open_everything();
    CALL(heed_heatmap_text(NULL, NULL));
    CALL(heed_chart_text(NULL, 1, 1, false, NULL));
    CALL(heed_chart_text(NULL, 1, 1, false, &l.text));
    CALL(heed_chart_text(zero, 1, 1, false, NULL));
    CALL(heed_chart_png(NULL, NULL, 1, 1, NULL));
    CALL(heed_chart_png(NULL, zero, 1, 1, "a"));
    CALL(heed_chart_png(l.c, NULL, 1, 1, "a"));
    CALL(heed_chart_png(l.c, zero, 1, 1, NULL));
    CALL(heed_charts_png(NULL, NULL, 1, 1, 1, NULL));
    CALL(heed_charts_png(NULL, zero, 1, 1, 1, "a"));
    CALL(heed_charts_png(l.c, NULL, 1, 1, 1, "a"));
    CALL(heed_charts_png(l.c, zero, 1, 1, 1, NULL));
    CALL(heed_charts_svg(NULL, NULL, 1, 1, 1, NULL));
    CALL(heed_charts_svg(l.c, zero, 1, 1, 1, NULL));
    CALL(heed_heatmaps_svg(NULL, NULL, 1, NULL));
    CALL(heed_sheet_png(NULL, NULL, NULL));
    CALL(heed_heatmap_png(NULL, NULL, NULL));
    CALL(heed_heatmaps_png(NULL, NULL, 1, NULL));
    CALL(heed_panels_png(NULL, NULL, NULL));
    CALL(heed_panels_svg(NULL, NULL, NULL));
    CALL(heed_record_png(NULL, NULL, NULL));
    CALL(heed_record_svg(l.c, NULL, NULL));
    CALL(heed_record_view_of(NULL, 0));
    CALL(heed_view_map_free(NULL));
    CALL(heed_view_matrix(l.c, NULL, 0, NULL));
    CALL(heed_view_rows(l.c, NULL, true, true, NULL));
    CALL(heed_page_size(NULL));
    CALL(heed_page_write(NULL, NULL, NULL));
    close_everything(&l);
}

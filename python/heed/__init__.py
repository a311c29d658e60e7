"""heed: a tiny trainable transformer framework. Tensors, layers and autograd; training, running and looking into models.

    import heed
    run = heed.train("gpt", "book.txt", out="runs/book", steps=300)
    print(run.generate("Once upon a time"))
    run.attend("Once upon a time").show()

train, resume, open, import_ and read are the ways in. They give a Run (fill, generate, classify, translate, evaluate, attend, ...) or
a Record of what was attended to. train and evaluate read files, or arrays and lists; what goes wrong is raised as an Error.

Net, its layers and its optimizers are for custom models and loops. Ops are functions here and methods of Tensor."""
from ._library import Context, DataError, DivergedError, Error, FailedError, UsageError
from ._ops import *
from . import operators
from .layers import (Attention, BatchNorm, Block, Conv, DecoderBlock, Dropout, Embedding, FeedForward, Linear, Norm, Position, RNN)
from .lesson import Lesson
from .net import Net, Tensor, View
from .optim import Adam, AdamW, Lion, Momentum, Muon, Nesterov, Optimizer, RMSprop, Schedule, SGD
from .record import Axis, Map, Page, Record, RecordBlock, read
from .run import Run, import_, open_ as open
from .training import Report, Training, resume, settings, train

__all__ = [
    "train", "resume", "settings", "open", "import_", "read", "Run", "Training", "Report", "Record", "RecordBlock", "Axis", "Map", "Page", "Lesson",
    "Net", "Tensor", "View", "Linear", "Embedding", "Position", "Norm", "BatchNorm", "Dropout", "Conv", "Attention", "FeedForward", "Block",
    "DecoderBlock", "RNN", "Optimizer", "AdamW", "Adam", "Muon", "Lion", "SGD", "Momentum", "Nesterov", "RMSprop", "Schedule",
    "Error", "UsageError", "DataError", "DivergedError", "FailedError", *_ops.__all__]
__version__ = "0.1.0"

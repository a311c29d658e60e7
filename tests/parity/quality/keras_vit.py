"""keras_vit.py MNIST -- the ViT of the Keras examples on MNIST: patches of 4, width 64, 4 heads, 8 pre-norm layers with an MLP of
128 and 64, dropout 0.1, a head of 2048 and 1024 with dropout 0.5, AdamW (1e-3, decay 1e-4), batches of 256; shifts of 2 pixels
as its augmentation (digits are not mirrored). 55,000 pictures to train, the last 5,000 to validate, an evaluation an epoch. A
line of JSON per evaluation. Needs keras and torch, its backend; MNIST is the folder of the four IDX files."""
import gzip
import json
import os
import sys

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import numpy as np
from keras import layers, ops

PATCHES, WIDTH = 49, 64


class Patches(layers.Layer):
    """(B,28,28,1) -> (B,49,16)"""

    def call(self, x):
        x = ops.reshape(x, (-1, 7, 4, 7, 4))
        return ops.reshape(ops.transpose(x, (0, 1, 3, 2, 4)), (-1, PATCHES, 16))


class Positions(layers.Layer):
    def build(self, shape):
        self.table = self.add_weight(shape=(PATCHES, WIDTH), initializer="uniform", name="positions")

    def call(self, x):
        return x + self.table


def mlp(x, units, dropout):
    for n in units:
        x = layers.Dropout(dropout)(layers.Dense(n, activation="gelu")(x))
    return x


def model():
    inputs = keras.Input((28, 28, 1))
    x = layers.RandomTranslation(2 / 28, 2 / 28, fill_mode="constant")(inputs)
    x = Positions()(layers.Dense(WIDTH)(Patches()(x)))
    for _ in range(8):
        y = layers.LayerNormalization(epsilon=1e-6)(x)
        x = layers.Add()([layers.MultiHeadAttention(num_heads=4, key_dim=WIDTH, dropout=0.1)(y, y), x])
        x = layers.Add()([mlp(layers.LayerNormalization(epsilon=1e-6)(x), (128, WIDTH), 0.1), x])
    x = layers.Dropout(0.5)(layers.Flatten()(layers.LayerNormalization(epsilon=1e-6)(x)))
    return keras.Model(inputs, layers.Dense(10)(mlp(x, (2048, 1024), 0.5)))


def idx(folder, name, skip):
    with gzip.open(os.path.join(folder, name)) as f:
        return np.frombuffer(f.read(), np.uint8)[skip:]


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(json.dumps({"epoch": epoch + 1, "accuracy": float(logs["val_accuracy"])}), flush=True)


def main():
    keras.utils.set_random_seed(1)
    x = idx(sys.argv[1], "train-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28, 1).astype("float32") / 255
    y = idx(sys.argv[1], "train-labels-idx1-ubyte.gz", 8).astype("int64")
    net = model()
    net.compile(keras.optimizers.AdamW(1e-3, weight_decay=1e-4), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    net.fit(x[:55000], y[:55000], batch_size=256, epochs=20, validation_data=(x[55000:], y[55000:]), verbose=0, callbacks=[Report()])


main()

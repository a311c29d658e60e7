"""weights.npz: attention weights as somebody's NumPy would save them. tests/record/test_weights.c says what it holds."""
import os
import numpy as np

w = (np.arange(48).reshape(2, 2, 4, 3) / 64).astype(np.float16)
np.savez_compressed(os.path.join(os.path.dirname(__file__), "weights.npz"), attention=np.asfortranarray(w),
                    queries=np.array(["a", "b", "c", "dé"]), keys=np.array(["a\0b", "longer", ""]), ids=np.arange(3))

"""run.py [PATTERN] -- runs the functions test_* of the files test_*.py here, each with an empty folder. Ends with "N passed, N failed"."""
import glob
import importlib
import inspect
import os
import signal
import sys
import tempfile
import traceback

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here] + ([] if os.environ.get("HEED_INSTALLED") else [os.path.join(here, "..", "..", "python")])
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
passed, failed = 0, 0
for path in sorted(glob.glob(os.path.join(here, "test_*.py"))):
    module = importlib.import_module(os.path.basename(path)[:-3])
    for name, test in inspect.getmembers(module, inspect.isfunction):
        if not name.startswith("test_") or (len(sys.argv) > 1 and sys.argv[1] not in f"{module.__name__}.{name}"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                test()
                passed += 1
            except Exception:
                failed += 1
                print(f"FAILED {module.__name__}.{name}")
                traceback.print_exc(limit=-3)
            os.chdir(here)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)

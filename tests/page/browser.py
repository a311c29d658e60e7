"""browser.py -- headless Chromium over the DevTools protocol, through a pair of pipes: the standard library alone."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time


class Browser:
    """One Chromium with one page. Everything that goes wrong there is collected: console errors, exceptions, requests."""

    def __init__(self, width=1280, height=900):
        self.program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not self.program:
            raise FileNotFoundError("no Chromium here")
        self.folder = tempfile.mkdtemp(prefix="heed-page-")
        self.downloads = os.path.join(self.folder, "downloads")
        os.mkdir(self.downloads)
        self.errors, self.requests, self.buffer, self.number, self.saved = [], [], b"", 0, {}
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()
        command = [self.program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                   f"--user-data-dir={self.folder}/profile", "about:blank"]
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{to_read} 4>&{from_write}', "sh"] + command, pass_fds=(to_read, from_write),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_read)
        os.close(from_write)
        self.session = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.downloads, eventsEnabled=True)
        self.size(width, height)

    # ---- the protocol: JSON texts, each ended by a NUL ----

    def message(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.source], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("Chromium does not answer")
            more = os.read(self.source, 1 << 20)
            if not more:
                raise ConnectionError("Chromium ended")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def note(self, event):
        name, p = event.get("method"), event.get("params", {})
        if name == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            self.errors.append(d.get("exception", {}).get("description") or d["text"])
        elif name == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
        elif name == "Log.entryAdded" and p["entry"]["level"] == "error":
            self.errors.append(p["entry"]["text"])
        elif name == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])
        elif name == "Page.javascriptDialogOpening":
            self.errors.append("a dialog: " + p["message"])
        elif name == "Browser.downloadWillBegin":
            self.saved[p["guid"]] = [p["suggestedFilename"], False]
        elif name == "Browser.downloadProgress" and p["state"] == "completed":
            self.saved[p["guid"]][1] = True

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session and not method.startswith(("Browser.", "Target.")):
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + 120
        while True:
            answer = self.message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer.get("result", {})
            self.note(answer)

    # ---- what a test does ----

    def run(self, script):
        """The value of a script, which may be a promise."""
        r = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in r:
            d = r["exceptionDetails"]
            raise RuntimeError(d.get("exception", {}).get("description") or d["text"])
        return r["result"].get("value")

    def wait(self, script, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run(script):
                return True
            time.sleep(0.02)
        return False

    def settle(self):
        """Until what was asked for is drawn."""
        self.run("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")

    def open(self, path, link=""):
        """Seconds until the page has drawn."""
        self.call("Page.navigate", url="about:blank")
        self.errors, self.requests = [], []
        start = time.monotonic()
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + link)
        if not self.wait("document.documentElement?.dataset.ready !== undefined"):
            raise TimeoutError(f"{path} draws nothing: {self.errors}")
        self.settle()
        return time.monotonic() - start

    def key(self, key):
        code = {"Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, "Tab": 9}.get(key)
        text = {} if code else {"text": key}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code or 0, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code or 0)
        self.settle()

    def pointer(self, x, y, click=False):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        if click:
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def picture(self, path, whole=False):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]))

    def download(self, action, seconds=60):
        """The bytes and the name of the file that a script makes the page save."""
        before = set(self.saved)
        self.run(action)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for guid in set(self.saved) - before:
                name, done = self.saved[guid]
                if done:
                    with open(os.path.join(self.downloads, name), "rb") as f:
                        return f.read(), name
            self.run("0")
            time.sleep(0.02)
        raise TimeoutError("no file was saved")

    def close(self):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except Exception:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

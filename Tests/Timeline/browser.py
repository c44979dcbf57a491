# SPDX-License-Identifier: MIT
"""Chromium without a window, driven by the DevTools protocol over a pipe, with Python's own library."""

import base64
import itertools
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time


class Browser:
    """One page of a browser with a profile of its own, which ends with the `with` block."""

    # How long a command may take, in seconds.
    TIMEOUT = 20

    def __init__(self):
        self.numbers = itertools.count(1)
        self.replies = queue.Queue()
        # What the page has printed or thrown, or what its policy has refused.
        self.problems = []
        # The URLs that the page has loaded.
        self.requests = []
        self.dialogs = 0

    def __enter__(self):
        program = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
        if program is None:
            raise SystemExit("there is no Chromium; install the package `chromium`")
        self.profile = tempfile.mkdtemp(prefix="timeline.")
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        def connect():
            # Chromium reads commands from descriptor 3 and writes to descriptor 4.
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", "--user-data-dir=" + self.profile, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=connect,
        )
        os.close(to_browser)
        os.close(from_browser)
        threading.Thread(target=self.read, daemon=True).start()
        self.session = None
        deadline = time.monotonic() + self.TIMEOUT
        pages = []
        while not pages and time.monotonic() < deadline:
            targets = self.call("Target.getTargets")["targetInfos"]
            pages = [target for target in targets if target["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(domain + ".enable")
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(5)
        except Exception:
            self.process.kill()
            self.process.wait()
        os.close(self.output)
        shutil.rmtree(self.profile, ignore_errors=True)

    def read(self):
        with os.fdopen(self.input, "rb") as stream:
            rest = b""
            while block := stream.read1(1 << 16):
                *messages, rest = (rest + block).split(b"\0")
                for message in messages:
                    self.receive(json.loads(message))
        self.replies.put(None)

    def receive(self, message):
        method, values = message.get("method"), message.get("params", {})
        if "id" in message:
            self.replies.put(message)
        elif method in ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"]:
            self.problems.append(json.dumps(values)[:400])
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs += 1

    def call(self, method, **values):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while reply := self.replies.get(timeout=self.TIMEOUT):
            if reply["id"] == number:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']['message']}")
                return reply["result"]
        raise RuntimeError("the browser has ended")

    def show(self, width, height, is_dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 700)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']['exception']['description']}")
        return result["result"].get("value")

    def wait(self, expression):
        """Waits until an expression of the page is true."""
        deadline = time.monotonic() + self.TIMEOUT
        while not self.value(expression):
            if time.monotonic() > deadline:
                raise AssertionError("never true: " + expression)
            time.sleep(0.02)

    def settle(self):
        """Waits until two frames have been drawn."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def press(self, key):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "End": 35, "Home": 36}
        code = {"windowsVirtualKeyCode": codes[key]} if key in codes else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **code)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def click(self, selector, index=0):
        x, y = self.value(f"""(() => {{
            const box = document.querySelectorAll({json.dumps(selector)})[{index}].getBoundingClientRect();
            return [box.x + Math.min(box.width, 60) / 2, box.y + box.height / 2];
        }})()""")
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

#!/usr/bin/env python3
"""Drives a headless Chromium by its DevTools protocol, over a pipe.

browser.py PAGE.html reads commands from standard input, one a line:

    size WIDTH HEIGHT       of the window
    key NAME                a key, as KeyboardEvent.key has it
    move X Y                the pointer, in CSS pixels
    click SELECTOR          the middle of the element that it finds
    run SCRIPT              evaluates it
    expect SCRIPT           evaluates it until it is true, for 10 s at most
    shot FILE.png           a picture of the window
    dark | light            what the system prefers

Ends with status 1 and the line at fault when an expectation does not hold, or
when the page reports an error. CHROMIUM names the program.
"""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


class Browser:
    def __init__(self, profile):
        to_it, self.to = os.pipe()
        self.of, from_it = os.pipe()
        # The protocol is on descriptors 3 and 4.
        command = [os.environ.get("CHROMIUM", "chromium"), "--headless=new",
                   "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                   "--no-first-run", "--hide-scrollbars",
                   f"--user-data-dir={profile}", "about:blank"]

        def wire():
            a, b = os.dup(to_it), os.dup(from_it)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            command, preexec_fn=wire, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_it)
        os.close(from_it)
        self.last, self.text, self.session, self.faults = 0, b"", None, []

    def read(self):
        while b"\0" not in self.text:
            more = os.read(self.of, 1 << 20)
            if not more:
                raise SystemExit("browser.py: the browser has ended")
            self.text += more
        message, self.text = self.text.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("method") == "Runtime.exceptionThrown":
                detail = answer["params"]["exceptionDetails"]
                self.faults.append(detail.get("exception", {}).get(
                    "description", detail["text"]))
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise SystemExit(f"browser.py: {method}: {answer['error']}")
                return answer["result"]

    def open(self, page):
        target = self.call("Target.createTarget", url="about:blank")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        self.call("Runtime.enable")
        self.call("Page.enable")
        self.call("Page.navigate", url=pathlib.Path(page).resolve().as_uri())
        while self.value("document.readyState") != "complete":
            time.sleep(.05)

    def value(self, script):
        result = self.call("Runtime.evaluate", expression=script,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            detail = result["exceptionDetails"]
            raise SystemExit("browser.py: " + detail.get("exception", {}).get(
                "description", detail["text"]))
        return result["result"].get("value")


def pointer(browser, x, y, click):
    kinds = ["mouseMoved"] + ["mousePressed", "mouseReleased"] * click
    for kind in kinds:
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                     button="left" if kind != "mouseMoved" else "none",
                     clickCount=int(kind != "mouseMoved"))


def do(browser, line):
    word, _, rest = line.partition(" ")
    if word == "size":
        width, height = map(int, rest.split())
        browser.call("Emulation.setDeviceMetricsOverride", width=width,
                     height=height, deviceScaleFactor=1, mobile=width < 600)
    elif word in ("dark", "light"):
        browser.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": word}])
    elif word == "key":
        text = rest if len(rest) == 1 else "\r" if rest == "Enter" else ""
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=rest, text=text)
        browser.call("Input.dispatchKeyEvent", type="keyUp", key=rest)
    elif word == "move":
        pointer(browser, *map(float, rest.split()), click=0)
    elif word == "click":
        x, y = browser.value(
            f"(e => {{ const r = e.getBoundingClientRect(); return [r.x + "
            f"r.width / 2, r.y + r.height / 2]; }})(document.querySelector("
            f"{json.dumps(rest)}))")
        pointer(browser, x, y, click=1)
    elif word == "run":
        browser.value(rest)
    elif word == "expect":
        end = time.time() + 10
        while not browser.value(rest):
            if time.time() > end:
                raise SystemExit(f"browser.py: does not hold: {rest}")
            time.sleep(.05)
    elif word == "shot":
        shot = browser.call("Page.captureScreenshot", format="png")
        pathlib.Path(rest).write_bytes(base64.b64decode(shot["data"]))
    else:
        raise SystemExit(f"browser.py: unknown command: {line}")


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            browser.open(sys.argv[1])
            for line in sys.stdin:
                if line.strip():
                    do(browser, line.rstrip("\n"))
            if browser.faults:
                raise SystemExit("browser.py: " + browser.faults[0])
        finally:
            browser.process.kill()
            browser.process.wait()


main()

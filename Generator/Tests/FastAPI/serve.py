# SPDX-License-Identifier: MIT
"""Serves the three APIs on 127.0.0.1.

    python serve.py --port 0

Prints one line of JSON with the ports, {"shop": 40001, "library": 40002, "admin": 40003}, once all accept connections. With a port
other than 0, the servers have it and the two after it. Ends with SIGTERM, or with the input if `--until-eof` is set, so that no server
outlives the test that started it.
"""

import argparse
import asyncio
import json
import os
import socket
import sys
import threading

import uvicorn

import admin
import library
import shop

APPS = {"shop": shop.app, "library": library.app, "admin": admin.app}


def listener(port: int) -> socket.socket:
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", port))
    found.listen(128)
    return found


def end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--until-eof", action="store_true")
    options = arguments.parse_args()
    listeners = [listener(options.port and options.port + number) for number in range(len(APPS))]
    if options.until_eof:
        threading.Thread(target=end_with_input, daemon=True).start()
    servers = [uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", timeout_keep_alive=60)) for app in APPS.values()]
    print(json.dumps({name: found.getsockname()[1] for name, found in zip(APPS, listeners)}), flush=True)
    await asyncio.gather(*(server.serve(sockets=[found]) for server, found in zip(servers, listeners)))


if __name__ == "__main__":
    asyncio.run(main())

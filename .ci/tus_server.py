"""The tus server of the integration tests: tuspyserver, and the SHA-256 of what it has stored.

    pip install tuspyserver fastapi uvicorn
    python3 tus_server.py PORT FOLDER

    POST, HEAD, PATCH, DELETE, OPTIONS /files/…   tus 1.0.0
    GET /digest/ID                                the digest of an upload in hexadecimal digits
"""

import functools
import hashlib
import os
import sys

import tuspyserver.request
import uvicorn
from fastapi import FastAPI, HTTPException
from fastapi.responses import PlainTextResponse
from tuspyserver import create_tus_router

# While tuspyserver waits for the lock of an upload, it serves nothing, also not the end of the request that has the lock.
tuspyserver.request.acquire_upload_lock = functools.partial(tuspyserver.request.acquire_upload_lock, timeout=0.05)

port, folder = int(sys.argv[1]), sys.argv[2]
os.makedirs(folder, exist_ok=True)
app = FastAPI()
app.include_router(create_tus_router(prefix="files", files_dir=folder))


@app.get("/digest/{name}")
def digest(name: str) -> PlainTextResponse:
    path = os.path.join(folder, os.path.basename(name))
    if not os.path.isfile(path):
        raise HTTPException(status_code=404)
    sha256 = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            sha256.update(piece)
    return PlainTextResponse(sha256.hexdigest())


uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", timeout_keep_alive=60)

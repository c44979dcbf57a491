"""The WebSocket servers of the tests: websockets, aiohttp, and a proxy that opens tunnels.

    pip install websockets aiohttp
    python3 websocket_server.py PORT AIOHTTP_PORT PROXY_PORT

Both servers, on their own ports:

    /                an HTTP response with status 200 (not with aiohttp)
    /echo            sends back each message
    /flood/N         sends N text messages of 16 bytes, and closes
    /close/CODE      closes with the code and the reason "as asked"
    /refuse          status 403 with the body "no entry"
    /token           as /echo, with "Authorization: Bearer fresh"; else status 401
    /lose            sends "one", and ends the connection without a close frame
    /silent          neither answers messages nor close frames
    /tunnels         the number of tunnels that the proxy has opened, as the only message
"""

import asyncio
import sys

import aiohttp.web
from websockets.asyncio.server import serve

tunnels = 0


async def with_websockets(socket):
    path = socket.request.path
    if path.startswith("/flood/"):
        for _ in range(int(path.split("/")[2])):
            await socket.send("0123456789abcdef")
    elif path.startswith("/close/"):
        await socket.close(int(path.split("/")[2]), "as asked")
    elif path == "/lose":
        await socket.send("one")
        await asyncio.sleep(0.05)
        socket.transport.abort()
    elif path == "/silent":
        socket.transport.pause_reading()
        await asyncio.sleep(60)
        socket.transport.abort()
    elif path == "/tunnels":
        await socket.send(str(tunnels))
    else:
        async for message in socket:
            await socket.send(message)


def refusal(connection, request):
    if request.path == "/":
        return connection.respond(200, "ok\n")
    if request.path == "/refuse":
        return connection.respond(403, "no entry\n")
    if request.path == "/token" and request.headers.get("Authorization") != "Bearer fresh":
        return connection.respond(401, "who are you?\n")
    return None


async def with_aiohttp(request):
    path = request.path
    if path == "/refuse":
        return aiohttp.web.Response(status=403, text="no entry\n")
    if path == "/token" and request.headers.get("Authorization") != "Bearer fresh":
        return aiohttp.web.Response(status=401, text="who are you?\n")
    socket = aiohttp.web.WebSocketResponse(max_msg_size=0, protocols=("v2.example",))
    await socket.prepare(request)
    if path.startswith("/flood/"):
        for _ in range(int(path.split("/")[2])):
            await socket.send_str("0123456789abcdef")
        await socket.close()
    elif path.startswith("/close/"):
        await socket.close(code=int(path.split("/")[2]), message=b"as asked")
    elif path == "/lose":
        await socket.send_str("one")
        await asyncio.sleep(0.05)
        request.transport.abort()
    elif path == "/silent":
        request.transport.pause_reading()
        await asyncio.sleep(60)
        request.transport.abort()
    else:
        async for message in socket:
            if message.type == aiohttp.WSMsgType.TEXT:
                await socket.send_str(message.data)
            elif message.type == aiohttp.WSMsgType.BINARY:
                await socket.send_bytes(message.data)
    return socket


async def tunnel(reader, writer):
    """CONNECT host:port, without a password (RFC 9110 section 9.3.6)."""
    global tunnels
    head = await reader.readuntil(b"\r\n\r\n")
    method, place = head.split(b" ")[:2]
    if method != b"CONNECT":
        writer.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
        writer.close()
        return
    host, port = place.rsplit(b":", 1)
    there, server = await asyncio.open_connection(host.decode(), int(port))
    tunnels += 1
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    await asyncio.gather(copy(reader, server), copy(there, writer), return_exceptions=True)


async def copy(reader, writer):
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


def subprotocol(connection, offered):
    return "v2.example" if "v2.example" in offered else None


async def main():
    port, aiohttp_port, proxy_port = map(int, sys.argv[1:4])
    app = aiohttp.web.Application()
    app.router.add_get("/{path:.*}", with_aiohttp)
    runner = aiohttp.web.AppRunner(app)
    await runner.setup()
    await aiohttp.web.TCPSite(runner, "127.0.0.1", aiohttp_port, backlog=2048).start()
    await asyncio.start_server(tunnel, "127.0.0.1", proxy_port)
    async with serve(
        with_websockets,
        "127.0.0.1",
        port,
        max_size=None,
        process_request=refusal,
        select_subprotocol=subprotocol,
        ping_interval=None,
        backlog=2048,
    ):
        await asyncio.get_running_loop().create_future()


asyncio.run(main())

# SPDX-License-Identifier: MIT
"""A library: forms, files, text and bytes.

Each operation returns what it has read, so that a caller can compare values.
"""

import base64
import hashlib
from datetime import date, datetime, time, timedelta
from enum import Enum
from typing import Annotated

from fastapi import Body, FastAPI, File, Form, Header, HTTPException, Path, Query, Request, Response, UploadFile
from fastapi.responses import PlainTextResponse
from pydantic import AnyUrl, Base64Bytes, BaseModel, Field

app = FastAPI(
    title="Library",
    version="2.1",
    summary="Lends books.",
    generate_unique_id_function=lambda route: route.name,
)

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c636000000000050001a5f64540"
    "0000000049454e44ae426082"
)

ISBN = Annotated[str, Path(pattern="^[0-9]{13}$")]


class Bytes(Response):
    media_type = "application/octet-stream"


class Shelf(str, Enum):
    poetry = "poetry"
    travel = "travel & maps"
    self_help = "self-help"
    default = "default"


class Loan(BaseModel):
    reader: str
    books: list[str]
    until: date
    renew: bool
    shelf: Shelf | None


class FileEcho(BaseModel):
    """A file as it arrived."""

    name: str | None
    type: str | None
    size: int
    sha256: str


class Cover(BaseModel):
    title: str
    page: int | None
    file: FileEcho


class Scans(BaseModel):
    note: str | None
    files: list[FileEcho]


class Book(BaseModel):
    isbn: str = Field(pattern="^[0-9]{13}$", examples=["9780140449136"])
    title: str
    shelf: Shelf = Shelf.default
    link: AnyUrl | None = None
    self: str | None = Field(default=None, description="A name that is a reserved word in some languages.")


class Gone(BaseModel):
    reason: str
    since: date


class Page(BaseModel):
    items: list[Book]
    next: str | None = Field(description="Where the next page begins; null on the last one.")


class Sealed(BaseModel):
    name: str
    content: Base64Bytes


class Event(BaseModel):
    at: datetime
    day: date
    opens: time | None = None
    lasts: timedelta | None = None


async def echo(file: UploadFile) -> FileEcho:
    data = await file.read()
    return FileEcho(
        name=file.filename, type=file.content_type, size=len(data), sha256=hashlib.sha256(data).hexdigest()
    )


@app.get("/books", tags=["books"])
def listBooks(cursor: str | None = None, size: Annotated[int, Query(ge=1, le=50)] = 2) -> Page:
    """Returns two pages: the first one, and the one with the cursor `second`."""
    first = 0 if cursor is None else size
    books = [Book(isbn=f"97801404491{number:02}", title=f"Book {number}") for number in range(first, first + size)]
    return Page(items=books, next="second" if cursor is None else None)


@app.post("/books", tags=["books"], status_code=201)
def addBooks(books: list[Book]) -> list[Book]:
    return books


@app.get(
    "/books/{isbn}",
    tags=["books"],
    responses={404: {"description": "Unknown"}, 410: {"model": Gone, "description": "Given away"}},
)
def getBook(isbn: ISBN) -> Book:
    """Returns 404 for a number that begins with 0, and 410 for one that begins with 1."""
    if isbn.startswith("0"):
        raise HTTPException(404, "there is no such book")
    if isbn.startswith("1"):
        return Response(Gone(reason="water", since=date(2025, 1, 31)).model_dump_json(), 410, media_type="application/json")
    return Book(isbn=isbn, title="The Odyssey", link="https://library.example/odyssey?page=1", self="me")


@app.head("/books/{isbn}", tags=["books"])
def hasBook(isbn: ISBN) -> Response:
    return Response(status_code=404 if isbn.startswith("0") else 200)


@app.post("/events", tags=["books"])
def echoEvent(event: Event) -> Event:
    return event


@app.post("/sealed", tags=["books"])
def echoSealed(sealed: Sealed) -> Sealed:
    """Returns the bytes in reverse."""
    return Sealed(name=sealed.name, content=base64.b64encode(sealed.content[::-1]))


# MARK: - Forms and files


@app.post("/loans", tags=["forms"])
def lend(
    reader: Annotated[str, Form()],
    books: Annotated[list[str], Form()],
    until: Annotated[date, Form()],
    renew: Annotated[bool, Form()] = False,
    shelf: Annotated[Shelf | None, Form()] = None,
) -> Loan:
    return Loan(**locals())


@app.post("/covers", tags=["forms"], status_code=201)
async def addCover(
    title: Annotated[str, Form()],
    file: UploadFile,
    page: Annotated[int | None, Form()] = None,
) -> Cover:
    return Cover(title=title, page=page, file=await echo(file))


@app.post("/scans", tags=["forms"])
async def addScans(files: list[UploadFile], note: Annotated[str | None, Form()] = None) -> Scans:
    return Scans(note=note, files=[await echo(file) for file in files])


@app.post("/thumbnails", tags=["forms"])
async def addThumbnail(
    small: Annotated[bytes, File(description="The picture's bytes.")], large: UploadFile | None = None
) -> dict[str, int]:
    return {"small": len(small), "large": len(await large.read()) if large else 0}


# MARK: - Text and bytes


@app.post("/notes", tags=["content"], response_class=PlainTextResponse)
def echoNote(text: Annotated[str, Body(media_type="text/plain")]) -> str:
    return text


@app.put("/blobs/{name}", tags=["content"], response_class=Bytes)
def echoBlob(name: str, data: Annotated[bytes, Body(media_type="application/octet-stream")]) -> Bytes:
    return Bytes(data, headers={"X-Name": name.encode().hex(), "X-Size": str(len(data))})


@app.get(
    "/covers/{number}",
    tags=["content"],
    response_class=Response,
    responses={200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}},
)
def getCover(number: int) -> Response:
    return Response(PNG, media_type="image/png")


@app.get(
    "/catalogue.csv",
    tags=["content"],
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
def getCatalogue() -> Response:
    return Response("isbn,title\n9780140449136,The Odyssey\n", media_type="text/csv; charset=utf-8")


@app.get(
    "/summary",
    tags=["content"],
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    response_model=dict[str, int],
)
def getSummary(accept: Annotated[str, Header()] = "*/*") -> Response:
    """Returns JSON or text, by the field Accept."""
    if accept.startswith("text/plain"):
        return PlainTextResponse("books: 2")
    return Response('{"books":2}', media_type="application/json")


@app.get("/files/{path:path}", tags=["content"])
def getFile(path: str) -> dict[str, str]:
    return {"path": path}


@app.post(
    "/merged",
    tags=["content"],
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/merge-patch+json": {"schema": {"$ref": "#/components/schemas/Book"}}},
        }
    },
)
async def mergeBook(request: Request) -> dict[str, str]:
    return {"type": request.headers["Content-Type"], "body": (await request.body()).decode()}

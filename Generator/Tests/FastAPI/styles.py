# SPDX-License-Identifier: MIT
"""The parameter styles of OpenAPI that FastAPI neither describes nor reads: what a document says of them, and how they are read.

The examples of OpenAPI 3.1, "Style Examples", are the bytes that each function takes.
"""

from urllib.parse import unquote

from fastapi import HTTPException, Request


def described(*parameters: dict) -> dict:
    """What a route passes as `openapi_extra`."""
    return {"parameters": list(parameters)}


def parameter(name: str, place: str, schema: dict, **rest) -> dict:
    """A parameter object; `rest` is its style, explode, allowReserved or required."""
    return {"name": name, "in": place, "required": place == "path", "schema": schema, **rest}


def array_of(kind: str) -> dict:
    return {"type": "array", "items": {"type": kind}}


def object_of(kind: str, *names: str) -> dict:
    return {"type": "object", "properties": {name: {"type": kind} for name in names}, "required": list(names)}


def raw_query(request: Request) -> list[tuple[str, str]]:
    """The items of the query as they were sent, still percent-encoded, so that a delimiter differs from an escaped one."""
    items = [item for item in request.url.query.split("&") if item]
    return [(unquote(name), value) for name, _, value in (item.partition("=") for item in items)]


def delimited(request: Request, name: str, *separators: str) -> list[str]:
    """The elements of an array that is one item of the query, between separators as they are sent."""
    for other, value in raw_query(request):
        if other == name:
            for separator in separators[1:]:
                value = value.replace(separator, separators[0])
            return [unquote(element) for element in value.split(separators[0])]
    raise HTTPException(400, f"the query has no item named {name}")


def deep_object(request: Request, name: str) -> dict[str, str]:
    """The properties of an object that is sent as `name[property]=value`."""
    opening = name + "["
    return {
        other[len(opening) : -1]: unquote(value)
        for other, value in raw_query(request)
        if other.startswith(opening) and other.endswith("]")
    }


def pairs(elements: list[str]) -> dict[str, str]:
    """The properties of an object whose names and values alternate: `R,100,G,200`."""
    return dict(zip(elements[::2], elements[1::2]))


def assignments(elements: list[str]) -> dict[str, str]:
    """The properties of an object whose elements are assignments: `R=100,G=200`."""
    return dict(element.partition("=")[::2] for element in elements)


def raw_segment(request: Request, number: int) -> str:
    """A segment of the path as it was sent, still percent-encoded; the first one has the number 0."""
    return request.scope["raw_path"].decode().split("/")[1 + number]

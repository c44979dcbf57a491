# SPDX-License-Identifier: MIT
"""The administration: credentials of each kind, cookies, several statuses, typed errors, a server with variables.

Each operation returns what it has read, so that a caller can compare values. A credential is right if it is "tea", or if the user is
"reader" with the password "tea".
"""

from enum import Enum
from typing import Annotated, Any

from fastapi import Cookie, Depends, FastAPI, Form, HTTPException, Response, Security
from fastapi.responses import JSONResponse
from fastapi.security import (
    APIKeyCookie,
    APIKeyHeader,
    APIKeyQuery,
    HTTPAuthorizationCredentials,
    HTTPBasic,
    HTTPBasicCredentials,
    HTTPBearer,
    OAuth2PasswordBearer,
    SecurityScopes,
)
from pydantic import BaseModel, Field

admin = FastAPI(
    title="Admin",
    version="1.0.0-beta.2",
    generate_unique_id_function=lambda route: route.name,
    root_path_in_servers=False,
    servers=[
        {
            "url": "http://{host}:{port}/{version}",
            "description": "This machine",
            "variables": {
                "host": {"default": "127.0.0.1"},
                "port": {"default": "8000", "description": "The port that serve.py prints."},
                "version": {"default": "v1", "enum": ["v1", "v2"]},
            },
        },
        {"url": "https://admin.example/v1", "description": "Production"},
    ],
)
app = FastAPI(openapi_url=None)
app.mount("/v1", admin)
app.mount("/v2", admin)

bearer = HTTPBearer(auto_error=False)
basic = HTTPBasic()
key_header = APIKeyHeader(name="X-API-Key", auto_error=False)
key_query = APIKeyQuery(name="api_key")
key_cookie = APIKeyCookie(name="session")
oauth = OAuth2PasswordBearer(tokenUrl="token", scopes={"jobs:read": "Read jobs", "jobs:write": "Change jobs"})


class Who(BaseModel):
    scheme: str
    credential: str


class Failure(BaseModel):
    """An error of any operation."""

    code: int
    message: str
    details: dict[str, Any] | None = None


class Mode(str, Enum):
    now = "now"
    later = "later"
    never = "never"


class JobRequest(BaseModel):
    mode: Mode
    name: str = "job"


class Done(BaseModel):
    result: str


class Accepted(BaseModel):
    job: str
    retryAfter: int


class Token(BaseModel):
    access_token: str
    token_type: str
    scope: str | None = None


def checked(scheme: str, credential: str | None) -> Who:
    if credential != "tea":
        raise HTTPException(401, f"the credential is wrong: {scheme}", {"WWW-Authenticate": "Bearer"})
    return Who(scheme=scheme, credential=credential)


@admin.get("/open", tags=["credentials"])
def openToAll() -> Who:
    return Who(scheme="none", credential="")


@admin.get("/bearer", tags=["credentials"])
def withBearer(found: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]) -> Who:
    return checked("bearer", found and found.credentials)


@admin.get("/basic", tags=["credentials"])
def withBasic(found: Annotated[HTTPBasicCredentials, Depends(basic)]) -> Who:
    return checked("basic", found.password if found.username == "reader" else None)


@admin.get("/key/header", tags=["credentials"])
def withKeyHeader(found: Annotated[str | None, Depends(key_header)]) -> Who:
    return checked("header", found)


@admin.get("/key/query", tags=["credentials"])
def withKeyQuery(found: Annotated[str, Depends(key_query)]) -> Who:
    return checked("query", found)


@admin.get("/key/cookie", tags=["credentials"])
def withKeyCookie(found: Annotated[str, Depends(key_cookie)]) -> Who:
    return checked("cookie", found)


@admin.get("/either", tags=["credentials"])
def withEither(
    token: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    key: Annotated[str | None, Depends(key_header)],
) -> Who:
    """Takes a bearer token or a key."""
    return checked("bearer", token.credentials) if token else checked("header", key)


@admin.post("/token", tags=["credentials"])
def issueToken(
    username: Annotated[str, Form()],
    password: Annotated[str, Form(json_schema_extra={"format": "password", "writeOnly": True})],
    scope: Annotated[str, Form()] = "",
    grant_type: Annotated[str | None, Form(pattern="^password$")] = None,
) -> Token:
    checked("password", password if username == "reader" else None)
    return Token(access_token="tea", token_type="bearer", scope=scope)


@admin.get("/scopes", tags=["credentials"])
def withScope(scopes: SecurityScopes, token: Annotated[str, Security(oauth, scopes=["jobs:read"])]) -> Who:
    return checked("oauth", token)


# MARK: - Cookies


class CookieEcho(BaseModel):
    session: str
    visits: int | None
    mode: Mode | None


@admin.get("/cookies", tags=["cookies"])
def readCookies(
    session: Annotated[str, Cookie()],
    visits: Annotated[int | None, Cookie()] = None,
    mode: Annotated[Mode | None, Cookie()] = None,
) -> CookieEcho:
    return CookieEcho(session=session, visits=visits, mode=mode)


@admin.post("/cookies", tags=["cookies"], status_code=204)
def setCookie(response: Response) -> None:
    response.set_cookie("session", "tea")


# MARK: - Statuses


@admin.post(
    "/jobs",
    tags=["jobs"],
    responses={202: {"model": Accepted, "description": "Later"}, 204: {"description": "Nothing to do"}},
    response_model=Done,
)
def startJob(job: JobRequest) -> Response:
    """Returns 200, 202 or 204, by the mode."""
    match job.mode:
        case Mode.now:
            return JSONResponse({"result": job.name})
        case Mode.later:
            return JSONResponse({"job": job.name, "retryAfter": 3}, 202)
        case Mode.never:
            return Response(status_code=204)


@admin.get("/failures/{code}", tags=["jobs"], responses={"default": {"model": Failure, "description": "An error"}})
def fail(code: int, details: bool = False) -> Done:
    """Fails with the status, or returns 200 for it."""
    if code == 200:
        return Done(result="fine")
    failure = Failure(code=code, message=f"failed with {code}", details={"list": [1, None, "x"]} if details else None)
    return JSONResponse(failure.model_dump(), code)


@admin.get("/jobs/{job}", tags=["jobs"], responses={"4XX": {"model": Failure, "description": "The caller's error"}})
def getJob(job: str) -> Done | Accepted:
    """Returns a job that is done, or else one that is accepted."""
    if job.startswith("missing"):
        return JSONResponse(Failure(code=404, message="no such job").model_dump(), 404)
    return Done(result=job) if job.startswith("done") else Accepted(job=job, retryAfter=1)


@admin.put("/settings", tags=["jobs"])
def putSettings(settings: dict[str, Any]) -> dict[str, Any]:
    return settings


@admin.get("/old", tags=["jobs"], deprecated=True)
def oldOperation(number: Annotated[int, Field(deprecated=True)] = 1) -> int:
    """Returns the number. Use `startJob` instead."""
    return number

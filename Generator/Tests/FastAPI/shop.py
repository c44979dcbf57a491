# SPDX-License-Identifier: MIT
"""A shop: each style of a parameter, JSON bodies, unions, dictionaries, recursive and inline models.

Each operation returns what it has read, so that a caller can compare values.
"""

from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal
from urllib.parse import unquote
from uuid import UUID

from fastapi import Body, FastAPI, Header, HTTPException, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from styles import (
    array_of,
    assignments,
    deep_object,
    delimited,
    described,
    object_of,
    pairs,
    parameter,
    raw_query,
    raw_segment,
)

app = FastAPI(
    title="Shop",
    version="1.0.0",
    description="Sells tea.",
    generate_unique_id_function=lambda route: route.name,
)


@app.exception_handler(KeyError)
@app.exception_handler(ValidationError)
def refuse(request: Request, error: Exception) -> Response:
    """Answers 400 for a value that a route reads by itself."""
    return JSONResponse({"detail": str(error)}, 400)


class Category(str, Enum):
    """What kind of tea it is."""

    green = "green"
    black = "black"
    white_peony = "white-peony"
    none = "none"


class Rank(IntEnum):
    low = 1
    middle = 2
    high = 10


class Problem(BaseModel):
    detail: str


class ProductQuery(BaseModel):
    q: str | None
    tags: list[str]
    category: Category | None
    ranks: list[Rank]
    minPrice: float | None
    inStock: bool | None
    limit: int
    createdAfter: datetime | None
    day: date | None


class NewProduct(BaseModel):
    """A product that has no number yet."""

    name: str = Field(min_length=1, max_length=80, examples=["Sencha"])
    price: Decimal = Field(ge=0, examples=["4.20"])
    category: Category = Category.none
    rank: Rank | None = None
    description: str | None = Field(default=None, description="Sentences for the page of the product.")
    tags: list[str] = []
    weights: list[int | None] = []
    attributes: dict[str, str] = {}


class Product(NewProduct):
    id: int = Field(json_schema_extra={"readOnly": True, "format": "int64"})
    code: UUID
    createdAt: datetime
    day: date


class ProductChange(BaseModel):
    """What changes. A field that is missing stays, and one that is null is removed."""

    name: str | None = None
    description: str | None = None


class ChangeEcho(BaseModel):
    sent: list[str]
    removed: list[str]
    change: ProductChange


class Strings(BaseModel):
    values: list[str]


class Integers(BaseModel):
    values: list[int]


class Color(BaseModel):
    R: int
    G: int
    B: int


class Card(BaseModel):
    kind: Literal["card"]
    number: str
    expires: date


class Transfer(BaseModel):
    kind: Literal["transfer"]
    iban: str
    reference: str | None = None


class Voucher(BaseModel):
    kind: Literal["voucher"]
    codes: list[str]


Payment = Annotated[Card | Transfer | Voucher, Field(discriminator="kind")]


class Receipt(BaseModel):
    id: int
    payment: Payment
    attempts: list[Payment] = []


class ByNumber(BaseModel):
    model_config = ConfigDict(extra="forbid")
    number: int


class ByName(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    fuzzy: bool = False


class SearchEcho(BaseModel):
    kind: str
    search: ByNumber | ByName | list[str]


class Values(BaseModel):
    """Values of several types."""

    numberOrText: int | str
    flagOrNumbers: bool | list[float] | None = None
    anything: Any = None
    constant: Literal["fixed"] = "fixed"
    pair: tuple[int, str] = (0, "")


class Node(BaseModel):
    """A category and those below it."""

    name: str
    parent: "Node | None" = None
    children: list["Node"] = []
    index: dict[str, "Node"] = {}


class Tree(BaseModel):
    depth: int
    root: Node


class Stock(BaseModel):
    counts: dict[str, int]
    products: dict[str, NewProduct] = {}
    notes: dict[str, list[str] | None] = {}


NOT_FOUND = {404: {"model": Problem, "description": "There is no such product."}}


def product(number: int, new: NewProduct | None = None) -> Product:
    new = new or NewProduct(name="Sencha", price=Decimal("4.20"), category=Category.green)
    return Product(
        **new.model_dump(),
        id=number,
        code=UUID(int=number),
        createdAt=datetime.fromisoformat("2026-02-28T12:30:00.250+00:00"),
        day=date(2026, 2, 28),
    )


@app.get("/products", tags=["products"])
def listProducts(
    q: str | None = None,
    tags: Annotated[list[str], Query(description="Repeated for each tag.")] = [],
    category: Category | None = None,
    ranks: Annotated[list[Rank], Query()] = [],
    minPrice: float | None = None,
    inStock: bool | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    createdAfter: datetime | None = None,
    day: date | None = None,
) -> ProductQuery:
    """Returns the query as it was read."""
    return ProductQuery(**locals())


@app.post("/products", tags=["products"], status_code=201)
def createProduct(new: NewProduct, response: Response) -> Product:
    response.headers["Location"] = "/products/7"
    return product(7, new)


@app.get("/products/{productID}", tags=["products"], responses=NOT_FOUND)
def getProduct(productID: Annotated[int, Path(ge=1)]) -> Product:
    if productID > 1000:
        raise HTTPException(404, f"there is no product {productID}")
    return product(productID)


@app.put("/products/{productID}", tags=["products"], responses={201: {"model": Product, "description": "Created"}})
def putProduct(productID: int, new: NewProduct, response: Response) -> Product:
    """Returns 201 for a product above 100, which is new, and else 200."""
    response.status_code = 201 if productID > 100 else 200
    return product(productID, new)


@app.patch("/products/{productID}", tags=["products"])
def changeProduct(productID: int, change: ProductChange) -> ChangeEcho:
    removed = [name for name in change.model_fields_set if getattr(change, name) is None]
    return ChangeEcho(sent=sorted(change.model_fields_set), removed=sorted(removed), change=change)


@app.delete("/products/{productID}", tags=["products"], status_code=204)
def deleteProduct(productID: int) -> None:
    return None


@app.get("/codes/{code}", tags=["products"])
def getProductByCode(code: UUID) -> Product:
    return product(code.int % 1000)


@app.get("/days/{day}/categories/{category}", tags=["products"])
def getDay(day: date, category: Category) -> dict[str, str]:
    return {"day": day.isoformat(), "category": category.value}


# MARK: - Styles of the query


@app.get(
    "/query/form",
    tags=["styles"],
    openapi_extra=described(parameter("ids", "query", array_of("integer"), explode=False, required=True)),
)
def queryForm(request: Request) -> Integers:
    return Integers(values=delimited(request, "ids", ","))


@app.get(
    "/query/space",
    tags=["styles"],
    openapi_extra=described(
        parameter("words", "query", array_of("string"), style="spaceDelimited", explode=False, required=True)
    ),
)
def querySpace(request: Request) -> Strings:
    return Strings(values=delimited(request, "words", "%20", "+"))


@app.get(
    "/query/pipe",
    tags=["styles"],
    openapi_extra=described(
        parameter("words", "query", array_of("string"), style="pipeDelimited", explode=False, required=True)
    ),
)
def queryPipe(request: Request) -> Strings:
    return Strings(values=delimited(request, "words", "|", "%7C"))


@app.get(
    "/query/deep",
    tags=["styles"],
    openapi_extra=described(
        parameter("color", "query", object_of("integer", "R", "G", "B"), style="deepObject", explode=True, required=True)
    ),
)
def queryDeepObject(request: Request) -> Color:
    return Color(**deep_object(request, "color"))


@app.get(
    "/query/object",
    tags=["styles"],
    openapi_extra=described(
        parameter("color", "query", object_of("integer", "R", "G", "B"), style="form", explode=True, required=True)
    ),
)
def queryObject(request: Request) -> Color:
    return Color(**{name: unquote(value) for name, value in raw_query(request)})


@app.get(
    "/query/object/flat",
    tags=["styles"],
    openapi_extra=described(
        parameter("color", "query", object_of("integer", "R", "G", "B"), style="form", explode=False, required=True)
    ),
)
def queryFlatObject(request: Request) -> Color:
    return Color(**pairs(delimited(request, "color", ",")))


@app.get(
    "/query/reserved",
    tags=["styles"],
    openapi_extra=described(parameter("url", "query", {"type": "string"}, allowReserved=True, required=True)),
)
def queryReserved(request: Request) -> Strings:
    """Returns the value as it was read, and as it was sent."""
    return Strings(values=[request.query_params["url"], dict(raw_query(request))["url"]])


# MARK: - Styles of the path


@app.get("/path/simple/{ids}", tags=["styles"], openapi_extra=described(parameter("ids", "path", array_of("integer"))))
def pathSimple(request: Request) -> Integers:
    return Integers(values=raw_segment(request, 2).split(","))


@app.get(
    "/path/object/{color}",
    tags=["styles"],
    openapi_extra=described(parameter("color", "path", object_of("integer", "R", "G", "B"), explode=True)),
)
def pathObject(request: Request) -> Color:
    return Color(**assignments(raw_segment(request, 2).split(",")))


@app.get(
    "/path/label/{words}",
    tags=["styles"],
    openapi_extra=described(parameter("words", "path", array_of("string"), style="label", explode=True)),
)
def pathLabel(request: Request) -> Strings:
    return Strings(values=[unquote(word) for word in raw_segment(request, 2).removeprefix(".").split(".")])


@app.get(
    "/path/matrix/{words}",
    tags=["styles"],
    openapi_extra=described(parameter("words", "path", array_of("string"), style="matrix", explode=True)),
)
def pathMatrix(request: Request) -> Strings:
    items = [item.partition("=") for item in raw_segment(request, 2).removeprefix(";").split(";")]
    return Strings(values=[unquote(value) for name, _, value in items if name == "words"])


@app.get(
    "/path/matrix/flat/{words}",
    tags=["styles"],
    openapi_extra=described(parameter("words", "path", array_of("string"), style="matrix", explode=False)),
)
def pathFlatMatrix(request: Request) -> Strings:
    return Strings(values=[unquote(word) for word in raw_segment(request, 3).removeprefix(";words=").split(",")])


# MARK: - Header fields


class HeaderEcho(BaseModel):
    requestID: UUID
    count: int
    since: datetime | None
    category: Category | None


@app.get("/headers", tags=["styles"])
def headerFields(
    x_request_id: Annotated[UUID, Header()],
    x_count: Annotated[int, Header()] = 0,
    x_since: Annotated[datetime | None, Header()] = None,
    x_category: Annotated[Category | None, Header()] = None,
) -> HeaderEcho:
    return HeaderEcho(requestID=x_request_id, count=x_count, since=x_since, category=x_category)


@app.get(
    "/headers/array",
    tags=["styles"],
    openapi_extra=described(parameter("X-Words", "header", array_of("string"), required=True)),
)
def headerArray(request: Request) -> Strings:
    return Strings(values=[word.strip() for word in request.headers["X-Words"].split(",")])


@app.get(
    "/headers/object",
    tags=["styles"],
    openapi_extra=described(
        parameter("X-Color", "header", object_of("integer", "R", "G", "B"), explode=True, required=True)
    ),
)
def headerObject(request: Request) -> Color:
    return Color(**assignments(request.headers["X-Color"].split(",")))


# MARK: - Bodies


@app.post("/payments", tags=["orders"], status_code=201)
def pay(payment: Payment) -> Receipt:
    return Receipt(id=1, payment=payment, attempts=[payment])


@app.post("/searches", tags=["orders"])
def search(search: ByNumber | ByName | list[str]) -> SearchEcho:
    return SearchEcho(kind=type(search).__name__, search=search)


@app.post("/values", tags=["orders"])
def echoValues(values: Values) -> Values:
    return values


@app.post("/trees", tags=["orders"])
def measureTree(root: Node) -> Tree:
    def depth(node: Node) -> int:
        below = node.children + list(node.index.values())
        return 1 + max(map(depth, below), default=0)

    return Tree(depth=depth(root), root=root)


@app.put("/stock", tags=["orders"])
def putStock(stock: Stock) -> Stock:
    return stock


@app.put("/stock/counts", tags=["orders"])
def putCounts(counts: dict[str, int]) -> dict[str, int]:
    return counts


@app.post("/stock/names", tags=["orders"])
def postNames(names: list[str], upper: bool = False) -> list[str]:
    return [name.upper() if upper else name for name in names]


@app.post("/discounts", tags=["orders"])
def discount(product: NewProduct, percent: Annotated[int, Body(ge=0, le=100)]) -> dict[str, float]:
    return {"price": float(product.price) * (100 - percent) / 100}


ORDER = {
    "type": "object",
    "required": ["lines"],
    "properties": {
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["product", "count"],
                "properties": {
                    "product": {"type": "string"},
                    "count": {"type": "integer", "format": "int32"},
                    "state": {"type": "string", "enum": ["open", "sent"]},
                },
            },
        },
        "address": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": ["string", "null"]}}},
    },
}


@app.post(
    "/orders",
    tags=["orders"],
    openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": ORDER}}}},
    responses={200: {"description": "The order", "content": {"application/json": {"schema": ORDER}}}},
    response_model=None,
)
async def placeOrder(request: Request) -> Any:
    """Returns the order, whose schema is inline."""
    return await request.json()

// SPDX-License-Identifier: MIT
import Foundation
import Shop
import TargetKit
import Testing

@Suite("The shop reads what its targets send", .needsServers)
struct ShopCalls {
    private var products: Provider<ProductsAPI> { FastAPIServers.shared.provider(at: "shop") }
    private var styles: Provider<StylesAPI> { FastAPIServers.shared.provider(at: "shop") }
    private var orders: Provider<OrdersAPI> { FastAPIServers.shared.provider(at: "shop") }

    private let day = CalendarDate(year: 2026, month: 2, day: 28)
    private let tea = NewProductInput(
        name: "Gyokuro “first” & more",
        price: .string("12.50"),
        category: .whitePeony,
        rank: .value10,
        tags: ["a,b", "c d"],
        weights: [1, nil, 3],
        attributes: ["från": "日本"]
    )

    @Test("All items of a query, and none")
    func listsProducts() async throws {
        let since = try #require(Calendar(identifier: .gregorian).date(from: .utc(2026, 1, 2, 3, 4, 5)))
        let all = try await products.request(
            .listProducts(
                q: "a&b=c d+e",
                tags: ["x,y", "ü"],
                category: .black,
                ranks: [.value1, .value10],
                minPrice: 1.25,
                inStock: false,
                limit: 7,
                createdAfter: since,
                day: day
            ),
            as: ProductQuery.self
        )
        #expect(all.q == "a&b=c d+e")
        #expect(all.tags == ["x,y", "ü"])
        #expect(all.category == .black)
        #expect(all.ranks == [.value1, .value10])
        #expect(all.minPrice == 1.25)
        #expect(all.inStock == false)
        #expect(all.limit == 7)
        #expect(all.createdAfter == since)
        #expect(all.day == day)
        let none = try await products.request(.listProducts(), as: ProductQuery.self)
        #expect(none == ProductQuery(q: nil, tags: [], ranks: [], limit: 20))
    }

    @Test("A product is created, read, replaced, changed and deleted")
    func products() async throws {
        let created = try await products.request(.createProduct(tea))
        #expect(created.statusCode == 201)
        #expect(created.headers["Location"] == "/products/7")
        let product = try created.decode(Product.self)
        #expect(product.name == tea.name && product.price == "12.50" && product.rank == .value10)
        #expect(product.weights == [1, nil, 3] && product.attributes == ["från": "日本"])
        #expect(product.id == 7 && product.day == day)
        #expect(product.createdAt.timeIntervalSince1970 == 1_772_281_800.25)
        let read = try await products.request(.getProduct(productID: 12), as: Product.self)
        #expect(read.code == UUID(uuidString: "00000000-0000-0000-0000-00000000000C"))
        #expect(try await products.request(.putProduct(productID: 7, body: tea)).statusCode == 200)
        #expect(try await products.request(.putProduct(productID: 107, body: tea)).statusCode == 201)
        let change = ProductChange(name: "x")
        let echo = try await products.request(.changeProduct(productID: 7, body: change), as: ChangeEcho.self)
        #expect(echo.sent == ["name"] && echo.removed.isEmpty && echo.change == change)
        #expect(try await products.request(.deleteProduct(productID: 7)).statusCode == 204)
    }

    @Test("A UUID, a date and an enumeration in the path")
    func pathValues() async throws {
        let code = try #require(UUID(uuidString: "00000000-0000-0000-0000-0000000003E5"))
        #expect(try await products.request(.getProductByCode(code: code), as: Product.self).id == 997)
        let found = try await products.request(.getDay(day: day, category: .whitePeony), as: [String: String].self)
        #expect(found == ["day": "2026-02-28", "category": "white-peony"])
    }

    @Test("A documented error is the error of the call")
    func errors() async throws {
        let missing = await #expect(throws: TargetKitError.self) {
            try await products.request(.getProduct(productID: 1001))
        }
        #expect((missing?.appError as? Problem)?.detail == "there is no product 1001")
        let invalid = await #expect(throws: TargetKitError.self) {
            try await products.request(.listProducts(limit: 0))
        }
        let details = (invalid?.appError as? HTTPValidationError)?.detail
        #expect(details?.first?.loc == [.string("query"), .string("limit")])
    }

    @Test("Lists and objects in a query, by each style")
    func queryStyles() async throws {
        #expect(try await styles.request(.queryForm(ids: [3, -4, 5]), as: Integers.self).values == [3, -4, 5])
        let piped = ["a", "b,c", "f g"]
        #expect(try await styles.request(.queryPipe(words: piped), as: Strings.self).values == piped)
        let spaced = ["a", "b,c", "d|e"]
        #expect(try await styles.request(.querySpace(words: spaced), as: Strings.self).values == spaced)
        #expect(try await styles.request(.headerArray(xWords: ["a", "b"]), as: Strings.self).values == ["a", "b"])
        let deep = QueryDeepObjectColor(r: 100, g: 200, b: 150)
        #expect(try await styles.request(.queryDeepObject(color: deep), as: Color.self) == color)
        let object = QueryObjectColor(r: 100, g: 200, b: 150)
        #expect(try await styles.request(.queryObject(color: object), as: Color.self) == color)
        let flat = QueryFlatObjectColor(r: 100, g: 200, b: 150)
        #expect(try await styles.request(.queryFlatObject(color: flat), as: Color.self) == color)
        let url = "https://x.example/?a=b&c=d,e f"
        #expect(try await styles.request(.queryReserved(url: url), as: Strings.self).values.first == url)
    }

    private let color = Color(r: 100, g: 200, b: 150)

    @Test("Lists and objects in a path, by each style")
    func pathStyles() async throws {
        #expect(try await styles.request(.pathSimple(ids: [1, 2]), as: Integers.self).values == [1, 2])
        let words = ["a,b", "ü c", "d;e"]
        #expect(try await styles.request(.pathLabel(words: words), as: Strings.self).values == words)
        #expect(try await styles.request(.pathMatrix(words: words), as: Strings.self).values == words)
        #expect(try await styles.request(.pathFlatMatrix(words: words), as: Strings.self).values == words)
        let object = PathObjectColor(r: 100, g: 200, b: 150)
        #expect(try await styles.request(.pathObject(color: object), as: Color.self) == color)
    }

    @Test("Header fields")
    func headerFields() async throws {
        let id = UUID()
        let since = try #require(Calendar(identifier: .gregorian).date(from: .utc(2026, 1, 2, 3, 4, 5)))
        let all = try await styles.request(
            .headerFields(xRequestID: id, xCount: 4, xSince: since, xCategory: .green),
            as: HeaderEcho.self
        )
        #expect(all == HeaderEcho(requestID: id, count: 4, since: since, category: .green))
        let few = try await styles.request(.headerFields(xRequestID: id), as: HeaderEcho.self)
        #expect(few == HeaderEcho(requestID: id, count: 0))
        let object = HeaderObjectXColor(r: 100, g: 200, b: 150)
        #expect(try await styles.request(.headerObject(xColor: object), as: Color.self) == color)
    }

    @Test("Unions by their discriminator, and by trial")
    func unions() async throws {
        let card = Card(kind: .card, number: "4711", expires: day)
        let voucher = Voucher(kind: .voucher, codes: ["x", "y"])
        #expect(try await orders.request(.pay(.card(card)), as: Receipt.self).payment == .card(card))
        let receipt = try await orders.request(.pay(.voucher(voucher)), as: Receipt.self)
        #expect(receipt.payment == .voucher(voucher) && receipt.attempts == [.voucher(voucher)])
        for (search, kind, echo) in [
            (SearchBody.byNumber(ByNumber(number: 3)), "ByNumber", SearchEchoSearch.byNumber(ByNumber(number: 3))),
            (.byName(ByName(name: "x", fuzzy: true)), "ByName", .byName(ByName(name: "x", fuzzy: true))),
            (.stringArray(["a"]), "list", .stringArray(["a"])),
        ] {
            let found = try await orders.request(.search(search), as: SearchEcho.self)
            #expect(found.kind == kind && found.search == echo)
        }
        let values = Values(
            numberOrText: .string("7"),
            flagOrNumbers: .numberArray([1.5, -2]),
            anything: ["a": [1, nil]],
            constant: .fixed,
            pair: [1, "x"]
        )
        #expect(try await orders.request(.echoValues(values), as: Values.self) == values)
    }

    @Test("Recursive values, dictionaries, lists and inline models in bodies")
    func bodies() async throws {
        let leaf = NodeInput(name: "leaf")
        let root = NodeInput(name: "root", parent: Indirect(leaf), children: [leaf], index: ["x": leaf])
        let tree = try await orders.request(.measureTree(root), as: Tree.self)
        #expect(tree.depth == 2 && tree.root.parent?.value.name == "leaf" && tree.root.index?["x"]?.name == "leaf")
        let stock = StockInput(counts: ["a": 1], products: ["a": tea], notes: ["a": ["x"], "b": nil])
        let stored = try await orders.request(.putStock(stock), as: StockOutput.self)
        #expect(stored.counts == ["a": 1] && stored.products?["a"]?.name == tea.name)
        #expect(stored.notes == ["a": ["x"], "b": nil])
        #expect(try await orders.request(.putCounts(["a": 1, "": 2]), as: [String: Int].self) == ["a": 1, "": 2])
        #expect(try await orders.request(.postNames(body: ["a"], upper: true), as: [String].self) == ["A"])
        let discount = BodyDiscount(product: tea, percent: 50)
        #expect(try await orders.request(.discount(discount), as: [String: Double].self) == ["price": 6.25])
        let order = PlaceOrderBody(
            lines: [PlaceOrderBodyLinesElement(product: "a", count: 2, state: .sent)],
            address: PlaceOrderBodyAddress(city: "Århus")
        )
        let placed = try await orders.request(.placeOrder(order), as: PlaceOrderResponse.self)
        #expect(placed.lines.first?.state == .sent && placed.address?.city == "Århus")
    }
}

extension DateComponents {
    /// A time in UTC.
    static func utc(_ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int) -> Self {
        let zone = TimeZone(secondsFromGMT: 0)
        return Self(
            timeZone: zone,
            year: year,
            month: month,
            day: day,
            hour: hour,
            minute: minute,
            second: second
        )
    }
}

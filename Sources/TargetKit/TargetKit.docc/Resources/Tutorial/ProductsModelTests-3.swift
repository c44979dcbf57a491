import TargetKitTesting
import Testing
@testable import TeaShop

@MainActor
struct ProductsModelTests {
    @Test("The products that the server finds are shown")
    func products() async {
        let model = ProductsModel(provider: Provider(stubClosure: { _ in .immediate }))
        await model.search("tea")
        #expect(model.state == .loaded([Product(id: 7, name: "Green tea")]))
    }

    @Test("A failure is shown, and the next search replaces it")
    func failure() async throws {
        let calls = RequestLog()
        let transport = StubTransport(
            routes: [.get("/products"): .sequence(.failure(URLError(.notConnectedToInternet)), .json("[]"))],
            log: calls
        )
        let model = ProductsModel(provider: Provider(transport: transport))
        await model.search("tea")
        let text = "You are not connected to the internet. Check your connection and try again."
        #expect(model.state == .failed(text))
        await model.search("tea")
        #expect(model.state == .empty)
        try calls.expect(.get("/products").with(.query("q", "tea")), times: 2)
    }
}

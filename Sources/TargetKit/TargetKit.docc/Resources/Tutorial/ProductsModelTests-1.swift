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
}

import TargetKit

@MainActor
final class ProductsModel {
    enum State: Equatable {
        case empty
        case loading
        case loaded([Product])
        case failed(String)
    }

    private let provider: Provider<Shop>
    private(set) var state = State.empty

    init(provider: Provider<Shop>) {
        self.provider = provider
    }

    func search(_ text: String) async {
        state = .loading
        do throws(TargetKitError) {
            let products = try await provider.request(.products(search: text), as: [Product].self)
            state = products.isEmpty ? .empty : .loaded(products)
        } catch {
            if error.kind != .cancelled { state = .failed(error.text(.summary)) }
        }
    }
}

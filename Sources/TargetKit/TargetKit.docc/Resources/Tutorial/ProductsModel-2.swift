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
}

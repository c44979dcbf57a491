import TargetKit

@MainActor
final class ProductsModel {
    enum State: Equatable {
        case empty
        case loading
        case loaded([Product])
        case failed(String)
    }

    private(set) var state = State.empty
}

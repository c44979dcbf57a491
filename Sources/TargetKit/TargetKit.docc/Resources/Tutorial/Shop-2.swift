import TargetKit

struct Product: ResponseModel, Equatable {
    var id: Int
    var name: String
}

enum Shop {
    case products(search: String)
    case product(id: Int)
    case order(product: Int, count: Int)
}

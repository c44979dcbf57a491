import TargetKit

struct Product: ResponseModel, Equatable {
    var id: Int
    var name: String
}

enum Shop: RoutedTarget {
    case products(search: String)
    case product(id: Int)
    case order(product: Int, count: Int)

    var baseURL: URL { URL(string: "http://127.0.0.1:8000")! }

    var route: Route {
        switch self {
        case .products(let text): .get("/products", .query(["q": text]))
        case .product(let id): .get("/products/\(id)")
        case .order(let product, let count): .post("/orders", .json(["product": product, "count": count]))
        }
    }

    var sampleData: Data {
        switch self {
        case .products: Data(#"[{"id":7,"name":"Green tea"}]"#.utf8)
        case .product: Data(#"{"id":7,"name":"Green tea"}"#.utf8)
        case .order: Data()
        }
    }
}

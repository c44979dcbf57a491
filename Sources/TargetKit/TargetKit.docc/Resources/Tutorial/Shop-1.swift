import TargetKit

struct Product: ResponseModel, Equatable {
    var id: Int
    var name: String
}

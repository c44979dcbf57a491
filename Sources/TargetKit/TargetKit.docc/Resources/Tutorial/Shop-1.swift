import TargetKit

struct Product: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitJSON

extension RandomValues {
    /// Any JSON value, up to four levels deep.
    package mutating func json(depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 3 ? 8 : 12), using: &self) {
        case 0: return nil
        case 1: return .bool(Bool.random(using: &self))
        case 2: return .number(JSONNumber(.signed(Int64(bitPattern: next()) >> Int64.random(in: 0..<64, using: &self))))
        case 3:
            let number = next()
            return .number(JSONNumber(Int64(exactly: number).map { .signed($0) } ?? .unsigned(number)))
        case 4: return JSONValue(double())
        case 5: return .number(JSONNumber(text: "\(next()).\(next())e\(Int.random(in: -400...400, using: &self))") ?? 0)
        case 6...8: return .string(text())
        case 9: return .array((0..<Int.random(in: 0..<6, using: &self)).map { _ in json(depth: depth + 1) })
        default:
            let count = Int.random(in: 0..<(depth == 0 ? 20 : 5), using: &self)
            var object = JSONObject()
            for _ in 0..<count { object[text()] = json(depth: depth + 1) }
            return .object(object)
        }
    }
}

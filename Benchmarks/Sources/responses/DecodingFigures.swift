// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit
import TargetKitJSON

/// A thousand structs below a key path, and in an envelope, against `JSONDecoder` on the bytes of the list alone.
struct DecodingFigures {
    private struct Product: Codable, Sendable {
        var id: Int
        var name: String
        var price: Double
        var isInStock: Bool
        var tags: [String]
    }

    private let list: Data
    private let plain: Response
    private let below: Response

    init() throws {
        let products = (0..<1_000).map { index in
            Product(
                id: index,
                name: "Green tea, “no. \(index)”",
                price: Double(index) + 0.5,
                isInStock: index.isMultiple(of: 3),
                tags: ["tea", "green"]
            )
        }
        list = try JSONEncoder().encode(products)
        plain = Response(statusCode: 200, data: list)
        let body = Data(#"{"code":0,"message":"","data":{"page":1,"items":"#.utf8) + list + Data("}}".utf8)
        below = Response(statusCode: 200, data: body)
    }

    func add(to table: Table) async throws {
        let decoder = JSONDecoder()
        let envelope = CodeMessageData(data: "data.items")
        let race = try await Race(
            rounds: 40,
            [
                { keep(try below.decode([Product].self, atKeyPath: "data.items", using: decoder)) },
                { keep(try below.unwrap([Product].self, from: envelope, using: decoder)) },
                { keep(try plain.decode([Product].self, using: decoder)) },
                { keep(try decoder.decode([Product].self, from: list)) },
            ]
        )
        let best = race.best
        let names = ["decode 1,000 structs at a key path", "the same out of an envelope", "the same, the whole body"]
        for (index, name) in names.enumerated() {
            table.add(
                name,
                timeText(best[index]),
                timeText(best[3]),
                rounds: race.ratios(index, by: 3),
                goal: index == 0 ? .atMost(1.1) : .none
            )
        }
    }
}

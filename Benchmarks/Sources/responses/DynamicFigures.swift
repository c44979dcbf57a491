// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit
import TargetKitJSON

/// One megabyte of JSON as a dynamic value, against `JSONSerialization`: by how much it is quicker.
struct DynamicFigures {
    private let bodies: [(name: String, data: Data)]

    init() {
        bodies = [
            (
                "1 MB of objects",
                Self.megabyte { #"{"id":\#($0),"name":"Green tea \#($0)","price":\#($0).25,"stock":true}"# }
            ),
            ("1 MB of texts with escapes", Self.megabyte { #""a \"tea\" of Z\u00fcrich: 绿茶, no. \#($0)\n""# }),
            ("1 MB of numbers", Self.megabyte { "\($0 &* 7919).\($0 % 1000)" }),
            ("1 MB of nested arrays", Self.megabyte { "[[\($0)],[[]],[null,[false]]]" }),
        ]
    }

    private static func megabyte(_ element: (Int) -> String) -> Data {
        var data = Data("[".utf8)
        var index = 0
        while data.count < 1 << 20 {
            if index > 0 { data.append(UInt8(ascii: ",")) }
            data.append(contentsOf: element(index).utf8)
            index += 1
        }
        data.append(UInt8(ascii: "]"))
        return data
    }

    func add(to table: Table) async throws {
        for (index, body) in bodies.enumerated() {
            let data = body.data
            let race = try await Race(
                rounds: 20,
                [
                    { keep(try JSONSerialization.jsonObject(with: data)) }, { keep(try JSONValue(parsing: data)) },
                    { keep(try JSONDecoder().decode(JSONValue.self, from: data)) },
                ]
            )
            let best = race.best
            table.add(
                "\(body.name) → JSONValue",
                timeText(best[1]),
                "\(timeText(best[0])) Serialization",
                rounds: race.rateRatios(1, by: 0),
                goal: index == 0 ? .atLeast(2) : .none
            )
            table.add(
                "the same",
                timeText(best[1]),
                "\(timeText(best[2])) JSONDecoder",
                rounds: race.rateRatios(1, by: 2)
            )
        }
    }
}

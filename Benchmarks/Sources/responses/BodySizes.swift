// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit
import TargetKitJSON

extension ResponsesBenchmark {
    /// The cost of a JSON body as a dynamic value against the number of its objects.
    static func addSizes(to table: Table) async throws {
        try await table.add(
            curves: "A JSON body: µs against the number of objects",
            of: ("JSONValue", "JSONSerialization"),
            sizes: [1, 10, 100, 1_000, 10_000],
            rounds: 10,
            work: 3_000
        ) { count in
            let objects = (0..<count).map { #"{"id":\#($0),"name":"Green tea \#($0)","price":\#($0).25,"stock":true}"# }
            let data = Data("[\(objects.joined(separator: ","))]".utf8)
            return (
                { keep(try JSONValue(parsing: data)) }, { keep(try JSONSerialization.jsonObject(with: data)) }
            )
        }
    }
}

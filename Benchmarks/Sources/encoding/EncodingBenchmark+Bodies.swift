// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit

extension EncodingBenchmark {
    /// Five parameters as a JSON body.
    static func addJSON(to table: Table) async throws {
        let calls = 4000
        let parameters: [String: any Sendable] = [
            "name": "Jasmine \"Silver\" Needle", "price": 12.5, "count": 3, "organic": true, "origin": "福建",
        ]
        let encoding = JSONEncoding()
        let unsorted = JSONEncoding(sortedKeys: false)
        let request = URLRequest(url: URL(filePath: "/"))
        let race = try await Race(
            rounds: 60,
            [
                { for _ in 0..<calls { keep(try encoding.encode(parameters, into: request)) } },
                { for _ in 0..<calls { keep(try JSONSerialization.data(withJSONObject: parameters)) } },
                { for _ in 0..<calls { keep(try unsorted.encode(parameters, into: request)) } },
            ]
        )
        let times = race.best.map { timeText($0 / Double(calls)) }
        table.add(
            "5 parameters → JSON, by JSONSerialization",
            times[0],
            times[1],
            rounds: race.ratios(),
            goal: .atMost(0.25)
        )
        table.add("the same, keys not sorted", times[2], times[1], rounds: race.ratios(2, by: 1))
    }

    /// Three parts with 1 MB in them, against copying that megabyte.
    static func addMultipart(to table: Table) async throws {
        let calls = 100
        let picture = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) })
        let race = try await Race(
            rounds: 40,
            [
                {
                    for _ in 0..<calls {
                        let form = MultipartForm(parts: [
                            .text("Jasmine", name: "title"),
                            .text("12.5", name: "price"),
                            .data(picture, name: "photo", fileName: "photo.jpg", mimeType: "image/jpeg"),
                        ])
                        keep(try form.data())
                    }
                },
                { for _ in 0..<calls { keep(copy(picture)) } },
            ]
        )
        let times = race.best.map { timeText($0 / Double(calls)) }
        table.add("3-part form of 1 MB, by one copy", times[0], times[1], rounds: race.ratios(), goal: .atMost(1.3))
    }

    private static func copy(_ data: Data) -> Data {
        var copy = Data(capacity: data.count)
        copy.append(data)
        return copy
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// What a call costs without a network: a stubbed one goes the whole path but for the transport.
@main
struct CallsBenchmark {
    static func main() async throws {
        guard let base = URL(string: "https://api.example.com") else { throw URLError(.badURL) }
        if CommandLine.arguments.contains("cache") {
            let table = Table("A cached response")
            try await CacheFigures(base: base).add(to: table)
            return table.finish()
        }
        let table = Table("A stubbed call")
        try await StubbedFigures(base: base).add(to: table)
        try await PluginFigures(base: base).add(to: table)
        try await FlightFigures().add(to: table)
        try await TestFigures().add(to: table)
        table.finish()
    }
}

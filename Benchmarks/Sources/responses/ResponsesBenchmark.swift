// SPDX-License-Identifier: MIT
import Measuring

/// What it costs to make values of the bytes that came back.
@main
struct ResponsesBenchmark {
    static func main() async throws {
        if CommandLine.arguments.contains("sizes") {
            let table = Table("Responses: cost against size")
            try await addSizes(to: table)
            return table.finish()
        }
        let table = Table("Responses, against Foundation")
        try await DecodingFigures().add(to: table)
        try await DynamicFigures().add(to: table)
        try await LineFigures().add(to: table)
        table.finish()
    }
}

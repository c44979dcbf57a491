// SPDX-License-Identifier: MIT
import Measuring

/// What it costs to turn values into bytes.
@main
struct EncodingBenchmark {
    static func main() async throws {
        if CommandLine.arguments.contains("sizes") {
            let table = Table("Encoding: cost against size")
            try await addSizes(to: table)
            return table.finish()
        }
        let table = Table("Encoding, against Foundation")
        try await ParameterFigures(count: 5).add(to: table, goal: 0.6)
        try await ParameterFigures(count: 100).add(to: table, goal: 0.4)
        try await addJSON(to: table)
        try await addMultipart(to: table)
        try await addRequests(to: table)
        try await TargetFigures().add(to: table)
        try await addHeaders(to: table)
        try await UploadFigures().add(to: table)
        table.finish()
    }
}

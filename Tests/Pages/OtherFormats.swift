// SPDX-License-Identifier: MIT
import TargetKit

nonisolated enum Station: RoutedTarget {
    case settings, reading, feed

    var baseURL: URL { URL(filePath: "/") }
    var route: Route { .get("/reading") }
}

nonisolated struct Settings: ResponseModel, Encodable { var name: String }

nonisolated struct Reading: Sendable {
    var celsius: Float
    var bytes: Data { Data() }
}

nonisolated enum FeedParser {
    static func titles(in data: Data) -> [String] { [] }
}

nonisolated protocol Message: Sendable {
    init(serializedBytes: Data) throws
    func serializedData() throws -> Data
}

nonisolated final class XMLDecoder {
    var dateDecodingStrategy = JSONDecoder.DateDecodingStrategy.deferredToDate

    init(trimValueWhitespaces: Bool, removeWhitespaceElements: Bool) {}

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        throw URLError(.cannotParseResponse)
    }
}

nonisolated let transport = StubTransport(.status(200))
nonisolated let provider = Provider<Station>()

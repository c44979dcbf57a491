// SPDX-License-Identifier: MIT
import TargetKit

/// The strings and numbers in the JSON object of an authorization server's response. Values of other types are ignored.
struct OAuthFields: Decodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private var texts: [String: String] = [:]
    private var numbers: [(name: String, value: Double)] = []

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Name.self)
        for name in fields.allKeys {
            texts[name.stringValue] = try? fields.decode(String.self, forKey: name)
            if let number = try? fields.decode(Double.self, forKey: name) {
                numbers.append((name.stringValue, number))
            }
        }
    }

    /// Reads the body; `nil` if it isn't a JSON object.
    init?(_ response: Response) {
        guard let fields = try? response.decode(Self.self, using: JSONDecoder()) else { return nil }
        self = fields
    }

    subscript(name: String) -> String? { texts[name] }

    /// The number of a field. Some servers send it as a string.
    func number(_ name: String) -> Double? {
        numbers.first { $0.name == name }?.value
            ?? texts[name].flatMap { Double($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
}

// SPDX-License-Identifier: MIT

/// The JSON of a target in the file of an outbox or a queue.
package enum StoredTarget {
    package static func json(of target: some Encodable) throws -> String {
        String(decoding: try JSONEncoder.ofRecords.encode(target), as: UTF8.self)
    }

    /// `nil` if this version of the app can't decode it.
    package static func decoded<Target: Decodable>(_ json: String) -> Target? {
        try? JSONDecoder().decode(Target.self, from: Data(json.utf8))
    }
}

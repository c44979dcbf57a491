// SPDX-License-Identifier: MIT
import Foundation

/// Redacts the secrets in an `Upload-Metadata` field of tus: pairs of a key and a value in Base64, separated by commas.
struct MetadataRedactor {
    let redaction: Redaction

    func redacted(_ field: String) -> String {
        field.split(separator: ",", omittingEmptySubsequences: false).map { pair in
            let value = pair.lastIndex(of: " ").map { pair[pair.index(after: $0)...] } ?? ""
            guard !value.isEmpty, isSecret(value, of: pair.dropLast(value.count)) else { return String(pair) }
            return String(pair.dropLast(value.count)) + HeaderRedaction.placeholder
        }.joined(separator: ",")
    }

    private func isSecret(_ value: Substring, of key: Substring) -> Bool {
        if redaction.isSecret(name: key.trimmingCharacters(in: .whitespaces)) { return true }
        guard let data = Data(base64Encoded: String(value)), let text = String(data: data, encoding: .utf8) else {
            return false
        }
        return TextRedactor.redacted(text, by: redaction, depth: 1) != text
    }
}

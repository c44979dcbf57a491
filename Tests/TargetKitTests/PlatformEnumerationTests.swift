// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// The enumerations of Apple's frameworks can gain cases. On Linux the compiler takes Foundation's for frozen, and so
/// does not require `@unknown default`.
@Suite("Switches over enumerations of the platform", .throttled)
struct PlatformEnumerationTests {
    private static let enumerations: [String: Set<String>] = [
        "DecodingError": ["typeMismatch", "valueNotFound", "keyNotFound", "dataCorrupted"],
        "EncodingError": ["invalidValue"],
        "URLRequest.CachePolicy": [
            "useProtocolCachePolicy", "reloadIgnoringLocalCacheData", "reloadIgnoringLocalAndRemoteCacheData",
            "returnCacheDataElseLoad", "returnCacheDataDontLoad", "reloadRevalidatingCacheData",
        ],
        "URLSessionTask.State": ["running", "suspended", "canceling", "completed"],
        "URLSession.AuthChallengeDisposition": [
            "useCredential", "performDefaultHandling", "cancelAuthenticationChallenge", "rejectProtectionSpace",
        ],
        "NWPath.Status": ["satisfied", "unsatisfied", "requiresConnection"],
        "NWInterface.InterfaceType": ["other", "wifi", "cellular", "wiredEthernet", "loopback"],
        "JSONDecoder.KeyDecodingStrategy": ["useDefaultKeys", "convertFromSnakeCase"],
        "JSONEncoder.KeyEncodingStrategy": ["useDefaultKeys", "convertToSnakeCase"],
        "UIApplication.State": ["active", "inactive", "background"],
    ]

    @Test("Each has an @unknown default or a default")
    func defaults() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var found = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
            for (number, line) in lines.enumerated() where line.contains("switch ") && line.hasSuffix("{") {
                let indent = line.prefix { $0 == " " }
                let block = lines[(number + 1)...].prefix { $0.isEmpty || !$0.hasPrefix("\(indent)}") }
                guard let name = Self.enumeration(of: block, indent: String(indent)) else { continue }
                found += 1
                let hasDefault = block.contains {
                    $0.hasPrefix("\(indent)default") || $0.hasPrefix("\(indent)@unknown default")
                }
                #expect(hasDefault, "\(file.lastPathComponent):\(number + 1) switches over \(name)")
            }
        }
        #expect(found >= 5)
    }

    /// The enumeration whose cases are exactly those of a switch.
    private static func enumeration(of block: ArraySlice<String>, indent: String) -> String? {
        let cases = block.filter { $0.hasPrefix("\(indent)case ") }.flatMap { line in
            line.components(separatedBy: ":")[0].components(separatedBy: ",").compactMap { pattern in
                pattern.components(separatedBy: ".").dropFirst().first?.prefix { $0.isLetter }
            }
        }
        let names = Set(cases.map(String.init))
        guard !names.isEmpty else { return nil }
        return enumerations.first { names.isSubset(of: $0.value) && names.count >= min(2, $0.value.count) }?.key
    }
}

// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@testable import _TargetKitSupport

@Suite("Preferred languages", .throttled)
struct PreferredLanguagesTests {
    @Test(
        "On Linux the environment says which languages the person prefers",
        arguments: [
            (["LANG": "zh_CN.UTF-8"], ["zh-CN"]), (["LANG": "C.UTF-8"], []), ([:], []),
            (["LANG": "de_DE", "LC_ALL": "fr_FR@euro"], ["fr-FR"]),
            (["LANG": "de", "LC_MESSAGES": "en_GB", "LC_ALL": ""], ["en-GB"]),
            (["LANG": "de_DE.UTF-8", "LANGUAGE": "zh_CN:en:de_DE"], ["zh-CN", "en", "de-DE"]),
            (["LANG": "C", "LANGUAGE": "zh_CN"], []), (["LANG": "a b\r\nX: 1"], []),
        ] as [([String: String], [String])]
    )
    func environment(environment: [String: String], languages: [String]) {
        #expect(PreferredLanguages.posix(environment) == languages)
    }
}

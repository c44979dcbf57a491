// SPDX-License-Identifier: MIT
import Foundation
import TargetKitPlugins
import TestSupport
import Testing

// On other systems the arguments of the defaults cannot be set while the program runs.
#if os(Linux)
@Suite("Launch arguments in the user defaults", .throttled, .serialized)
struct EnvironmentArgumentTests {
    @Test("A launch argument with the key's name does not count as a saved selection", arguments: [true, false])
    func argument(isSuite: Bool) {
        let name = "targetkit-\(UUID().uuidString)"
        let storage = UserDefaultsEnvironmentStorage(suiteName: isSuite ? name : nil, key: name)
        let defaults = UserDefaults.standard
        let arguments = defaults.volatileDomain(forName: UserDefaults.argumentDomain)
        defaults.setVolatileDomain(arguments.merging([name: "test"]) { $1 }, forName: UserDefaults.argumentDomain)
        defer {
            storage.save(nil)
            defaults.removePersistentDomain(forName: name)
            defaults.setVolatileDomain(arguments, forName: UserDefaults.argumentDomain)
        }
        #expect(defaults.string(forKey: name) == "test")
        #expect(storage.load() == nil)
        storage.save(.production)
        #expect(storage.load() == .production)
        storage.save(nil)
        #expect(storage.load() == nil)
    }
}
#endif

// SPDX-License-Identifier: MIT
import TargetKitMoya

extension PageTests {
    // In a file with only one import, as on the page: TargetKitPlugins has a plugin of the same name.
    static var provider: MoyaProvider<Tea> {
        let provider = MoyaProvider<Tea>(plugins: [NetworkLoggerPlugin()])
        return provider
    }
}

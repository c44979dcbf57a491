// SPDX-License-Identifier: MIT
#if os(Linux)
/// A library that the program has loaded, such as one of libcurl.
package struct LoadedLibrary {
    private let handle: UnsafeMutableRawPointer

    /// - Returns: `nil` if the library isn't loaded.
    package init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD) else { return nil }
        self.handle = handle
    }

    /// The function with a name and a C function type; `nil` if the library lacks it.
    package func function<Function>(_ name: String, type: Function.Type = Function.self) -> Function? {
        dlsym(handle, name).map { unsafeBitCast($0, to: type) }
    }
}
#endif

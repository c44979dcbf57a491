// SPDX-License-Identifier: MIT
// swift-format-ignore-file
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Core Foundation's types as the types that they are bridged to.
public typealias CFTypeRef = AnyObject
public typealias CFString = NSString
public typealias CFData = NSData
public typealias CFArray = NSArray
public typealias CFDictionary = NSDictionary
public typealias CFAllocator = NSObject
public typealias CFError = any Error
public typealias CFTypeID = UInt
public typealias OSStatus = Int32

public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID { 0 }

// ---- Certificates ----

// Not `Sendable`, as in older SDKs.
public final class SecTrust {}

public func SecTrustGetTypeID() -> CFTypeID { 1 }
public final class SecCertificate {}
public final class SecIdentity {}

public typealias SecTrustWithErrorCallback = (SecTrust, Bool, CFError?) -> Void

@available(macOS 10.14, iOS 12, tvOS 12, watchOS 5, *)
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { false }

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping SecTrustWithErrorCallback
) -> OSStatus { errSecParam }

@discardableResult
@available(macOS 10.3, iOS 2, tvOS 9, watchOS 2, *)
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus { errSecSuccess }

@discardableResult
@available(macOS 10.6, iOS 2, tvOS 9, watchOS 2, *)
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus { errSecSuccess }

@available(macOS 12, iOS 15, tvOS 15, watchOS 8, *)
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { nil }

@available(macOS 10.6, iOS 2, tvOS 9, watchOS 2, *)
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? { nil }

@available(macOS 10.6, iOS 2, tvOS 9, watchOS 2, *)
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { NSData() }

@available(macOS 10.3, iOS 2, tvOS 9, watchOS 2, *)
public func SecIdentityGetTypeID() -> CFTypeID { 0 }

@available(macOS 10.6, iOS 2, tvOS 9, watchOS 2, *)
public func SecPKCS12Import(
    _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus { errSecParam }

@available(macOS 10.6, iOS 2, tvOS 9, watchOS 2, *)
public nonisolated(unsafe) let kSecImportExportPassphrase: CFString = "passphrase"
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public nonisolated(unsafe) let kSecImportToMemoryOnly: CFString = "memory"
@available(macOS 10.6, iOS 2, tvOS 9, watchOS 2, *)
public nonisolated(unsafe) let kSecImportItemIdentity: CFString = "identity"
@available(macOS 10.6, iOS 2, tvOS 9, watchOS 2, *)
public nonisolated(unsafe) let kSecImportItemCertChain: CFString = "chain"

extension URLProtectionSpace {
    public var serverTrust: SecTrust? { nil }
}

extension URLCredential {
    public convenience init(trust: SecTrust) {
        self.init(user: "", password: "", persistence: .none)
    }

    public convenience init(identity: SecIdentity, certificates certArray: [Any]?, persistence: URLCredential.Persistence) {
        self.init(user: "", password: "", persistence: persistence)
    }
}

// ---- The keychain ----

public let errSecSuccess: OSStatus = 0
public let errSecParam: OSStatus = -50
public let errSecDuplicateItem: OSStatus = -25299
public let errSecItemNotFound: OSStatus = -25300
public let errSecInteractionNotAllowed: OSStatus = -25308
public let errSecDecode: OSStatus = -26275
public let errSecMissingEntitlement: OSStatus = -34018

public nonisolated(unsafe) let kSecClass: CFString = "class"
public nonisolated(unsafe) let kSecClassGenericPassword: CFString = "genp"
public nonisolated(unsafe) let kSecAttrService: CFString = "svce"
public nonisolated(unsafe) let kSecAttrAccount: CFString = "acct"
public nonisolated(unsafe) let kSecAttrAccessGroup: CFString = "agrp"
public nonisolated(unsafe) let kSecAttrAccessible: CFString = "pdmn"
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"
public nonisolated(unsafe) let kSecReturnData: CFString = "r_Data"
public nonisolated(unsafe) let kSecMatchLimit: CFString = "m_Limit"
public nonisolated(unsafe) let kSecMatchLimitOne: CFString = "m_LimitOne"
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public nonisolated(unsafe) let kSecUseDataProtectionKeychain: CFString = "nleg"

@available(macOS 10.3, iOS 11.3, tvOS 11.3, watchOS 4.3, *)
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? { nil }

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    StubKeychain.shared.copy(query, result)
}

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    StubKeychain.shared.add(attributes)
}

public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    StubKeychain.shared.update(query, attributesToUpdate)
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    StubKeychain.shared.delete(query)
}

/// The items in memory, and the failures that a test injects.
public final class StubKeychain: @unchecked Sendable {
    /// The place of an item: one of the two keychains of macOS, and a name.
    public struct Place: Hashable, Sendable {
        public var isDataProtection: Bool
        public var service: String
        public var account: String

        public init(isDataProtection: Bool, service: String, account: String) {
            self.isDataProtection = isDataProtection
            self.service = service
            self.account = account
        }

        init(_ query: CFDictionary) {
            isDataProtection = query[kSecUseDataProtectionKeychain] as? Bool ?? false
            service = query[kSecAttrService] as? String ?? ""
            account = query[kSecAttrAccount] as? String ?? ""
        }
    }

    public static let shared = StubKeychain()

    public var items: [Place: Data] = [:]
    /// Whether the process has the entitlement for the data protection keychain.
    public var isEntitled = true
    /// Called once before an item is added, to simulate another process.
    public var beforeAdding: (() -> Void)?
    /// Called once before an item is changed, to simulate another process.
    public var beforeUpdating: (() -> Void)?

    public func reset() {
        items = [:]
        isEntitled = true
        beforeAdding = nil
        beforeUpdating = nil
    }

    private func refuses(_ place: Place) -> Bool { place.isDataProtection && !isEntitled }

    /// The login keychain does not support protection classes.
    private func isWrong(_ attributes: CFDictionary, at place: Place) -> Bool {
        !place.isDataProtection && attributes[kSecAttrAccessible] != nil
    }

    func copy(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
        let place = Place(query)
        if refuses(place) { return errSecMissingEntitlement }
        guard let data = items[place] else { return errSecItemNotFound }
        result?.pointee = NSData(data: data)
        return errSecSuccess
    }

    func add(_ attributes: CFDictionary) -> OSStatus {
        let place = Place(attributes)
        if refuses(place) { return errSecMissingEntitlement }
        if isWrong(attributes, at: place) { return errSecParam }
        let action = beforeAdding
        beforeAdding = nil
        action?()
        guard items[place] == nil else { return errSecDuplicateItem }
        items[place] = attributes[kSecValueData] as? Data
        return errSecSuccess
    }

    func update(_ query: CFDictionary, _ change: CFDictionary) -> OSStatus {
        let place = Place(query)
        if refuses(place) { return errSecMissingEntitlement }
        if isWrong(change, at: place) { return errSecParam }
        let action = beforeUpdating
        beforeUpdating = nil
        action?()
        guard items[place] != nil else { return errSecItemNotFound }
        items[place] = change[kSecValueData] as? Data
        return errSecSuccess
    }

    func delete(_ query: CFDictionary) -> OSStatus {
        let place = Place(query)
        if refuses(place) { return errSecMissingEntitlement }
        return items.removeValue(forKey: place) == nil ? errSecItemNotFound : errSecSuccess
    }
}

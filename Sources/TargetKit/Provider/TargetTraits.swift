// SPDX-License-Identifier: MIT

/// Which protocols besides ``TargetType`` the targets of a type can have: asked once, since each answer is a search.
struct TargetTraits: Sendable {
    /// Whether a target may hold another one.
    let canHoldAnother: Bool
    let canBeTimed: Bool
    let canShare: Bool
    let canMapErrors: Bool

    init(of type: any TargetType.Type) {
        // A MultiTarget holds any target, and an object may be of a class below.
        canHoldAnother = type == MultiTarget.self
        let isOpen = canHoldAnother || type is AnyObject.Type
        canBeTimed = isOpen || type is any TimedTarget.Type
        canShare = isOpen || type is any SharingTarget.Type
        canMapErrors = isOpen || type is any ErrorMappingTarget.Type
    }
}

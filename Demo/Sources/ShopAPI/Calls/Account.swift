// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TargetKitPlugins

/// The member who is signed in.
package enum Account: ShopTarget {
    case member
    case redeem(voucher: String)
    /// Makes the access token expire, as time does.
    case expire
    /// Ends the session on the server.
    case revoke

    package var route: Route {
        switch self {
        case .member: .get("/member")
        case .redeem(let voucher): .post("/vouchers", .json(["code": voucher]))
        case .expire: .post("/session/expire")
        case .revoke: .post("/session/revoke")
        }
    }

    /// The members' part of the server wraps its values in `{"code", "message", "data"}`.
    package var options: CallOptions {
        switch self {
        case .member, .redeem: .setting(\.envelope, CodeMessageData())
        // Either can be received twice.
        case .expire, .revoke: .setting(\.retryPolicy, RetryPolicy(attempts: 6, methods: [.post]))
        }
    }

    package var sampleData: Data {
        switch self {
        case .member: Data(#"{"code":0,"message":"ok","data":{"name":"Ada","points":24}}"#.utf8)
        case .redeem: Data(#"{"code":40021,"message":"The voucher TEA has expired."}"#.utf8)
        case .expire, .revoke: Data()
        }
    }
}

/// A member.
package struct Member: ResponseModel {
    package let name: String
    package let points: Int
}

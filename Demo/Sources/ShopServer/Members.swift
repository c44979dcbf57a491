// SPDX-License-Identifier: MIT
import FlyingFox
import Foundation

/// The members' part of the server, whose responses have an envelope: `{"code": 0, "message": "ok", "data": …}`.
struct Envelope<Value: Encodable>: Encodable {
    let code: Int
    let message: String
    var data: Value?
}

/// What `GET /member` gives back, in an envelope.
struct Member: Encodable {
    let name: String
    let points: Int
}

/// What `POST /vouchers` takes.
struct Voucher: Decodable {
    let code: String

    /// What the server says of every voucher, in the client's language.
    func refusal(acceptLanguage: String) -> Envelope<Member> {
        let isChinese = acceptLanguage.lowercased().hasPrefix("zh")
        let sentence = isChinese ? "优惠券 \(code) 已过期。" : "The voucher \(code) has expired."
        return Envelope(code: 40021, message: sentence)
    }
}

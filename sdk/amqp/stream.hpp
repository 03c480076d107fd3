// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <sessionq/error.hpp>

namespace sessionq::amqp {

/// Events of a stream. They come on the loop's thread, never within a call.
class StreamListener {
public:
    virtual ~StreamListener() = default;
    /// The bytes that `read` asked for, valid during the call. Empty: the peer sends no more.
    virtual void on_read(std::string_view bytes) = 0;
    /// The bytes of `write` have been written.
    virtual void on_written() = 0;
    /// The stream is lost. No event follows.
    virtual void on_failed(const Failure& failure) = 0;
};

/// A connected two-way byte stream: TCP, TLS, or WebSocket over either. Bound to the thread of its
/// loop.
///
/// Pending operations keep the stream's state alive. After `set_listener(nullptr)` or `close` there
/// are no more events.
class Stream : public std::enable_shared_from_this<Stream> {
public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    virtual ~Stream() = default;

    void set_listener(StreamListener* listener) noexcept { listener_ = listener; }

    /// Reads available bytes once, at most `read_size`. One read at a time.
    virtual void read() = 0;
    /// Writes all of `bytes`, and leaves an empty string with reusable memory. One write at a time.
    virtual void write(std::string& bytes) = 0;
    /// Tells the peer that no bytes follow. Not while a write is pending, and no write after it.
    virtual void shut() = 0;
    /// Closes the stream at once. Calling it again has no effect.
    virtual void close() noexcept = 0;

    /// The peer's name for logs and errors: "ADDRESS:PORT" where it has one.
    [[nodiscard]] virtual std::string peer() const = 0;

    /// The memory that the stream's buffers take, in bytes.
    [[nodiscard]] virtual std::size_t held() const noexcept { return 0; }
    /// Releases buffers of writes that have ended. They grow again with the traffic.
    virtual void trim() noexcept {}

    static constexpr std::size_t read_size = 64 * 1024;

protected:
    StreamListener* listener_{nullptr};
};

using StreamPtr = std::shared_ptr<Stream>;

} // namespace sessionq::amqp

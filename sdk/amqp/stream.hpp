#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <sessionq/error.hpp>

namespace sessionq::amqp {

/// What a stream tells its user, on the loop's thread and never from within a call.
class StreamListener {
public:
    virtual ~StreamListener() = default;
    /// What `read` asked for; valid during the call. Empty: the peer will send no more.
    virtual void on_read(std::string_view bytes) = 0;
    /// What `write` was given is on its way.
    virtual void on_written() = 0;
    /// The stream is lost; nothing follows.
    virtual void on_failed(const Failure& failure) = 0;
};

/// A two-way stream of bytes, connected: TCP, TLS, or WebSocket over either. Bound to the thread of
/// its loop.
///
/// Operations that are pending keep the stream's state alive; after `set_listener(nullptr)` or
/// `close` they tell nobody.
class Stream : public std::enable_shared_from_this<Stream> {
public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    virtual ~Stream() = default;

    void set_listener(StreamListener* listener) noexcept { listener_ = listener; }

    /// Reads once what there is, at most `read_size`. One at a time.
    virtual void read() = 0;
    /// Writes all of `bytes` and leaves an empty string with memory to go on with. One at a time.
    virtual void write(std::string& bytes) = 0;
    /// Tells the peer that nothing follows. Not while a write is pending; no write after it.
    virtual void shut() = 0;
    /// At once. Again: no effect.
    virtual void close() noexcept = 0;

    /// Who is at the other end, for people.
    [[nodiscard]] virtual std::string peer() const = 0;

    static constexpr std::size_t read_size = 64 * 1024;

protected:
    StreamListener* listener_{nullptr};
};

using StreamPtr = std::shared_ptr<Stream>;

} // namespace sessionq::amqp

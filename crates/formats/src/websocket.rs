//! Frames of the WebSocket protocol (RFC 6455), as a server sends and receives them.

/// A message or control frame that a server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// A message of text.
    Text,
    /// A message of bytes.
    Binary,
    /// The end of the connection.
    Close,
    /// The response to a ping.
    Pong,
}

/// A frame of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientFrame {
    /// A ping, whose content is sent back.
    Ping(Vec<u8>),
    /// The end of the connection, or a frame that no client should send.
    Close,
    /// Anything else.
    Other,
}

/// The content of a close frame for a regular end.
pub const NORMAL_CLOSURE: [u8; 2] = 1000_u16.to_be_bytes();

/// The longest frame that is received. Clients of one-directional streams send almost nothing.
const CLIENT_BYTES_MAX: usize = 64 << 10;
const PING: u8 = 9;
const CLOSE: u8 = 8;

/// A whole frame.
pub fn frame(opcode: Opcode, content: &[u8]) -> Vec<u8> {
    let code: u8 = match opcode {
        Opcode::Text => 1,
        Opcode::Binary => 2,
        Opcode::Close => CLOSE,
        Opcode::Pong => 10,
    };
    let mut frame = Vec::with_capacity(content.len() + 10);
    frame.push(0x80 | code);
    match (u8::try_from(content.len()), u16::try_from(content.len())) {
        (Ok(short @ ..126), _) => frame.push(short),
        (_, Ok(medium)) => {
            frame.push(126);
            frame.extend_from_slice(&medium.to_be_bytes());
        }
        _ => {
            frame.push(127);
            frame.extend_from_slice(&(content.len() as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(content);
    frame
}

/// Removes the first frame from the received bytes; `None` if it is not complete yet.
pub fn take_client_frame(received: &mut Vec<u8>) -> Option<ClientFrame> {
    let (first, second) = (*received.first()?, *received.get(1)?);
    let (length, at) = match second & 0x7f {
        126 => (usize::from(u16::from_be_bytes(*received.get(2..)?.first_chunk()?)), 4),
        127 => {
            let length = u64::from_be_bytes(*received.get(2..)?.first_chunk()?);
            (usize::try_from(length).unwrap_or(usize::MAX), 10)
        }
        short => (usize::from(short), 2),
    };
    let is_masked = second & 0x80 != 0;
    if !is_masked || length > CLIENT_BYTES_MAX {
        return Some(ClientFrame::Close);
    }
    let mask: [u8; 4] = *received.get(at..)?.first_chunk()?;
    let (start, end) = (at + 4, at + 4 + length);
    let content = received.get(start..end)?;
    let frame = match first & 0x0f {
        PING => {
            let bytes = content.iter().zip(mask.iter().cycle());
            ClientFrame::Ping(bytes.map(|(byte, mask)| byte ^ mask).collect())
        }
        CLOSE => ClientFrame::Close,
        _ => ClientFrame::Other,
    };
    received.drain(..end);
    Some(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_frame_has_three_forms() {
        assert_eq!(frame(Opcode::Text, b"hi"), [0x81, 2, b'h', b'i']);
        assert_eq!(frame(Opcode::Close, &NORMAL_CLOSURE), [0x88, 2, 3, 232]);
        assert_eq!(frame(Opcode::Binary, &[7; 125])[..2], [0x82, 125]);
        assert_eq!(frame(Opcode::Binary, &[7; 126])[..4], [0x82, 126, 0, 126]);
        assert_eq!(frame(Opcode::Binary, &vec![7; 65536])[..10], [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn frames_of_a_client_are_decoded_as_they_arrive() {
        let (ping, close) = ([0x89, 0x82, 1, 2, 3, 4, b'h' ^ 1, b'i' ^ 2], [0x88, 0x80, 1, 2, 3, 4]);
        let sent: Vec<u8> = [0x81, 0x81, 0, 0, 0, 0, b'x'].into_iter().chain(ping).chain(close).collect();
        let (mut received, mut frames) = (Vec::new(), Vec::new());
        for byte in sent {
            received.push(byte);
            frames.extend(take_client_frame(&mut received));
        }
        assert_eq!(frames, [ClientFrame::Other, ClientFrame::Ping(b"hi".to_vec()), ClientFrame::Close]);
        assert!(received.is_empty());
    }

    #[test]
    fn invalid_frames_close_the_connection() {
        for wrong in [vec![0x81, 1], vec![0x82, 0xff, 0, 0, 0, 0, 1, 0, 0, 0]] {
            assert_eq!(take_client_frame(&mut wrong.clone()), Some(ClientFrame::Close), "{wrong:?}");
        }
    }
}

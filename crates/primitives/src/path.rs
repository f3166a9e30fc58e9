//! The path of a field within an object, as errors name it.

use std::fmt;

/// The path of a field, such as `spec.ports[0].name`. It borrows from its parent and is only rendered when displayed.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Root,
    Field(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> Path<'a> {
    /// The object itself.
    pub fn root() -> Self {
        Self { parent: None, step: Step::Root }
    }

    /// Whether it is the object itself.
    pub fn is_root(&self) -> bool {
        matches!(self.step, Step::Root)
    }

    /// A field of the object itself.
    pub fn new(field: &'a str) -> Self {
        Self { parent: None, step: Step::Field(field) }
    }

    /// A field of the object at this path.
    pub fn child<'b>(&'b self, field: &'b str) -> Path<'b> {
        Path { parent: Some(self), step: Step::Field(field) }
    }

    /// An element of the list at this path.
    pub fn index(&self, index: usize) -> Path<'_> {
        Path { parent: Some(self), step: Step::Index(index) }
    }

    /// A member of the map at this path.
    pub fn key<'b>(&'b self, key: &'b str) -> Path<'b> {
        Path { parent: Some(self), step: Step::Key(key) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Field(field) if self.parent.is_some_and(|parent| !parent.is_root()) => {
                write!(f, ".{field}")
            }
            Step::Field(field) => f.write_str(field),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) => write!(f, "[{key}]"),
        }
    }
}

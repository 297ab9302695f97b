//! The column of a table that holds the section of each passage.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, StructArray, UInt32Array,
    builder::{LargeStringBuilder, ListBuilder},
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};

use crate::section::Section;

/// Structs with the fields of `KnowledgeSection`; null where a passage is a whole concept.
pub(crate) struct SectionColumn {
    heading: ListBuilder<LargeStringBuilder>,
    text: LargeStringBuilder,
    first_line: Vec<Option<u32>>,
    last_line: Vec<Option<u32>>,
}

impl Default for SectionColumn {
    fn default() -> Self {
        Self {
            heading: ListBuilder::new(LargeStringBuilder::new()).with_field(heading_item()),
            text: LargeStringBuilder::new(),
            first_line: Vec::new(),
            last_line: Vec::new(),
        }
    }
}

impl SectionColumn {
    pub(crate) fn field(name: &str) -> Field {
        Field::new(name, DataType::Struct(fields()), true)
    }

    pub(crate) fn push(&mut self, section: Option<Section>) {
        self.first_line.push(section.as_ref().map(|section| section.first_line));
        self.last_line.push(section.as_ref().map(|section| section.last_line));
        // Every field has an entry for each row. Where the struct is null, it is not looked at.
        let (heading, text) =
            section.map_or_else(Default::default, |section| (section.heading, section.text));
        self.heading.append_value(heading.into_iter().map(Some));
        self.text.append_value(text);
    }

    pub(crate) fn finish(mut self) -> Result<StructArray, ArrowError> {
        let first_line = UInt32Array::from(self.first_line);
        // A passage has a section exactly if it has a first line.
        let present = first_line.nulls().cloned();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.heading.finish()),
            Arc::new(self.text.finish()),
            Arc::new(first_line),
            Arc::new(UInt32Array::from(self.last_line)),
        ];
        StructArray::try_new(fields(), columns, present)
    }
}

fn heading_item() -> FieldRef {
    Arc::new(Field::new("item", DataType::LargeUtf8, false))
}

fn fields() -> Fields {
    Fields::from(vec![
        Field::new("heading", DataType::List(heading_item()), false),
        Field::new("text", DataType::LargeUtf8, false),
        Field::new("first_line", DataType::UInt32, false),
        Field::new("last_line", DataType::UInt32, false),
    ])
}

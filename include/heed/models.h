/* models.h -- the models that the program trains. They use only the library's public headers.
 *
 * Names of parameters: embed.token.weight embed.position.weight embed.type.weight embed.norm
 * encoder.N.{attn.qkv attn.out norm1 mlp.up mlp.down norm2} (mlm) or decoder.N. ... (gpt) norm
 * (final) head.{dense norm weight bias}; vit: embed.cls embed.patch embed.position.weight and the
 * encoder's; cnn: stem.{conv norm} stage.S.N.{conv1 norm1 conv2 norm2 short} head; mlp: hidden.N
 * hidden.N.norm head; seq2seq: embed.token.weight (or embed.source.weight, embed.target.weight),
 * embed.{source_position target_position}.weight, the encoder's, decoder.N.{attn.qkv attn.out norm1
 * cross.q cross.kv cross.out norm2 mlp.up mlp.down norm3} encoder.norm decoder.norm (pre-norm)
 * head; rnn: the same embeddings, encoder.* and decoder.* as PyTorch's layers, bridge.N,
 * decoder.attend.{w u score query key value} head. Probes: encoder.N.attn.weights,
 * decoder.N.attn.weights, decoder.N.cross.weights (B,heads,T,S); rnn: decoder.attend.weights
 * (B,T,S), or decoder.context.weights for the fixed context c. textcls and tag: as mlm, but
 * encoder.* may be recurrent (as PyTorch's layer) or convolutions, and head is one layer; caption:
 * encoder.{stem stage.S.N grid} as the cnn's, embed.target.weight, bridge.N context (without
 * attention) and decoder.* head as the rnn's or the seq2seq's; autoencoder: encoder.{hidden.N
 * conv.N code} decoder.{hidden.N grid conv.N out}; masked: those of vit without head,
 * decoder.{embed mask position.weight norm head} and decoder.N as encoder.N. A block with SwiGLU
 * has mlp.gate, too. */
#ifndef MODELS_H
#define MODELS_H

#include <heed/exchange.h>

HEED_EXPORT_BEGIN

extern const heed_model heed_model_mlm, heed_model_gpt, heed_model_vit, heed_model_cnn,
    heed_model_mlp, heed_model_seq2seq, heed_model_rnn, heed_model_textcls, heed_model_tag,
    heed_model_caption, heed_model_autoencoder;

/* All of them, ending with NULL: the list for `heed train` and heed_run_open. */
extern const heed_model *const heed_models[];

HEED_EXPORT_END

#endif

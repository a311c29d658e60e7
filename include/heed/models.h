/* heed/models.h -- the models that the program trains. They use only the library's public headers.
 */
#ifndef HEED_MODELS_H
#define HEED_MODELS_H

#include <heed/exchange.h>

HEED_EXPORT_BEGIN

/* clang-format off */
/* Names of parameters; N and S are numbers from 0:
 *     mlm          embed.{token.weight position.weight type.weight norm} head.{dense norm weight bias}
 *                  encoder.N.{attn.qkv attn.out norm1 mlp.up mlp.down norm2}
 *     gpt          as mlm, with decoder.N instead of encoder.N, and norm (the final one)
 *     vit          embed.{cls patch position.weight} encoder.N as mlm, norm head
 *     cnn          stem.{conv norm} stage.S.N.{conv1 norm1 conv2 norm2 short} head
 *     mlp          hidden.N hidden.N.norm head
 *     seq2seq      embed.token.weight, or embed.source.weight and embed.target.weight;
 *                  embed.{source_position target_position}.weight encoder.N as mlm,
 *                  decoder.N.{attn.qkv attn.out norm1 cross.q cross.kv cross.out norm2 mlp.up
 *                  mlp.down norm3} encoder.norm decoder.norm (pre-norm) head
 *     rnn          the embeddings of seq2seq; encoder.* and decoder.* as PyTorch's recurrent layers,
 *                  bridge.N decoder.attend.{w u score query key value} head
 *     textcls tag  as mlm, but encoder.* may be a recurrent layer or convolutions; head is one layer
 *     caption      encoder.{stem stage.S.N grid} as cnn, embed.target.weight, bridge.N, context
 *                  (without attention), decoder.* and head as rnn or seq2seq
 *     autoencoder  encoder.{hidden.N conv.N code} decoder.{hidden.N grid conv.N out};
 *                  masked: as vit without head, and decoder.{embed mask position.weight norm head},
 *                  decoder.N as encoder.N
 * A block with SwiGLU also has mlp.gate.
 *
 * Probes: encoder.N.attn.weights, decoder.N.attn.weights and decoder.N.cross.weights (B,heads,T,S);
 * rnn: decoder.attend.weights (B,T,S), or decoder.context.weights for the fixed context. */
/* clang-format on */

extern const heed_model heed_model_mlm, heed_model_gpt, heed_model_vit, heed_model_cnn,
    heed_model_mlp, heed_model_seq2seq, heed_model_rnn, heed_model_textcls, heed_model_tag,
    heed_model_caption, heed_model_autoencoder;

/* All of them, ended by NULL: the list for heed_program and heed_run_open. */
extern const heed_model *const heed_models[];

HEED_EXPORT_END

#endif

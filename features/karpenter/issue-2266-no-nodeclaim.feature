# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2266, first in v1.6.0.

@karpenter @issue-2266
Feature: A node that is being deleted goes, though its NodeClaim is gone before

  @karpenter-2266-no-nodeclaim
  Scenario: An operator takes the finalizers off a NodeClaim that waits for a disruption budget
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidateAfter: Never}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: web}
      spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: web, labels: {app: web}}
      spec:
        containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then the pod "web" is Running within 5m
    When "NodeClaim/$name" is deleted once "karpenter" has ever sent "create" of "nodeclaims"
    And "karpenter" has been refused "create" of "pods/eviction" "web"
    And "NodeClaim/$name" is patched with once "karpenter" has ever sent "create" of "nodeclaims":
      """
      metadata: {finalizers: null}
      """
    And "PodDisruptionBudget/web" is deleted
    Then the pod "web" is gone within 5m
    And this holds within 5m:
      """
      happens: {source: log, actor: karpenter, detail: {controller: node.termination, message: deleted node}}
      """

# https://github.com/kubernetes-sigs/karpenter/issues/3258

@karpenter @issue-3258
Feature: What was launched for a CapacityBuffer goes with it

  @karpenter-3258-buffer-deleted
  Scenario: The only buffer is deleted, and nothing else happens
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 5s later
    And the target has the environment variables:
      | FEATURE_GATES | CapacityBuffer=true |
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
        disruption: {consolidateAfter: 30s}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: v1
      kind: PodTemplate
      metadata: {name: spare}
      template:
        metadata: {labels: {app: spare}}
        spec: {containers: [{name: main, image: main, resources: {requests: {cpu: "1"}}}]}
      ---
      apiVersion: autoscaling.x-k8s.io/v1beta1
      kind: CapacityBuffer
      metadata: {name: spare}
      spec: {podTemplateRef: {name: spare}, replicas: 1}
      """
    And "node" has recorded "ready" of "nodes" 2 times
    When the scenario waits for 2m
    And "CapacityBuffer/spare" is deleted
    Then "karpenter" has sent "delete" of "nodeclaims" within 15m
